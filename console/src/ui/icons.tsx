// The few icons of buttons; each button also names its act in words.

function icon(path: string) {
  return function Icon() {
    return (
      <svg
        aria-hidden
        width="1em"
        height="1em"
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth={2}
        strokeLinecap="round"
        strokeLinejoin="round"
      >
        <path d={path} />
      </svg>
    );
  };
}

export const CopyIcon = icon('M9 9h11v11H9zM5 15H4V4h11v1');
export const DoneIcon = icon('M5 13l4 4L19 7');
export const SunIcon = icon(
  'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v2M12 20v2M4.900 4.900l1.400 1.400M17.700 17.700l1.400 1.400M2 12h2M20 12h2M4.900 19.100l1.400-1.400M17.700 6.300l1.400-1.400',
);
export const MoonIcon = icon('M20 14.500A8 8 0 1 1 9.500 4a7 7 0 0 0 10.500 10.500');
