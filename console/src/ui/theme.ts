// The colours of the console: those of the component library, changed if its own are too faint to read.
import { createTheme, type CSSVariablesResolver } from '@mantine/core';

export const theme = createTheme({
  primaryColor: 'cyan',
  primaryShade: 9,
  autoContrast: true,
  components: {
    // Within a text, colour alone does not mark a link.
    Anchor: { defaultProps: { underline: 'always' } },
    Modal: {
      defaultProps: {
        closeButtonProps: { 'aria-label': 'Close' },
        // The title bar of a dialog is no banner of the page.
        attributes: { header: { role: 'presentation' } },
      },
    },
  },
});

/** For text on the page and on a tint of the same colour; at least 4.5 to 1. */
const READABLE = {
  teal: '#066148',
  red: '#9c1c1c',
  orange: '#8a3600',
  blue: '#0b4a8f',
  cyan: '#064f5e',
  gray: '#343a40',
};

export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    // The error of a field, and its text.
    '--mantine-color-error': READABLE.red,
    ...Object.fromEntries(
      Object.entries(READABLE).flatMap(([name, text]) => [
        [`--mantine-color-${name}-light-color`, text],
        [`--mantine-color-${name}-text`, text],
      ]),
    ),
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-0)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
  },
});
