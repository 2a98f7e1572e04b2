// Text chosen by a merchant, its people or a payer. It stays in its own space, whatever its content.
import { Anchor } from '@mantine/core';
import { useState } from 'react';

/** Longer than any reference or description; a longer text is cut. */
const SHOWN_CHARACTERS = 120;

type MerchantTextProps = {
  readonly text: string;
  /** Within a link: the linked page has the whole text. */
  readonly isLink?: boolean;
};

/** Wraps within its space, keeps the direction of text beside it, and is cut if long; the whole is shown on demand. */
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
