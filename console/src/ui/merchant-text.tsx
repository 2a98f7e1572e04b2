// Text that a merchant, one of its people or a payer chose: it keeps to its own room, whatever it holds.
import { Anchor } from '@mantine/core';
import { useState } from 'react';

/** More than a reference or a description has; a longer text is cut. */
const SHOWN_CHARACTERS = 120;

type MerchantTextProps = {
  readonly text: string;
  /** Within a link: the page that it leads to has the whole. */
  readonly isLink?: boolean;
};

/** Wraps within its room, changes the direction of nothing beside it, and is cut when it is long; the whole is shown on demand. */
export function MerchantText({ text, isLink = false }: MerchantTextProps) {
  const [isWhole, setWhole] = useState(false);
  const start = Array.from(text).slice(0, SHOWN_CHARACTERS).join('');
  if (start.length === text.length) return <bdi className="merchant-text">{text}</bdi>;
  return (
    <>
      <bdi className="merchant-text">{isWhole ? text : `${start}…`}</bdi>
      {!isLink && (
        <>
          {' '}
          <Anchor component="button" type="button" inherit aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Show less' : 'Show all'}
          </Anchor>
        </>
      )}
    </>
  );
}
