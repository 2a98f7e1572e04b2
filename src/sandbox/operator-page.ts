// The operator page: pending payouts and refunds, which a person may approve or fail.
import { markup, NOTHING, type Markup } from './markup.ts';
import type { Transaction } from './transaction.ts';
import { money, phoneInGroups } from './words.ts';

export type OperatorView = {
  readonly waiting: readonly Transaction[];
  /** How many more payments wait than `waiting` shows. */
  readonly unshown: number;
  readonly account: readonly { readonly amount: string; readonly currency: string }[];
  readonly notice: string | null;
};

export function operatorPage({ waiting, unshown, account, notice }: OperatorView): Markup {
  const noticeLine = notice === null ? NOTHING : markup`<p class="said" role="status">${notice}</p>`;
  const cards = waiting.map(paymentForm);
  return markup`${noticeLine}
<div id="waiting" data-live>
<p>On the account: ${account.map(money).join('; ')}.</p>
${cards.length === 0 ? markup`<p>No payout waits. This page looks again by itself.</p>` : cards}
${unshown === 0 ? NOTHING : markup`<p>And ${unshown} more, shown when these are decided.</p>`}
</div>
<p><a href="/sandbox/operator">Look again</a></p>`;
}

function paymentForm(transaction: Transaction): Markup {
  const { kind, operatorReference, phone, payeeNote } = transaction;
  const heading = `what-${operatorReference}`;
  return markup`<form class="card" method="post" action="/sandbox/operator" aria-labelledby="${heading}">
<h2 id="${heading}">${kind === 'refund' ? 'Refund' : 'Pay'} ${money(transaction)} to ${phoneInGroups(phone)}?</h2>
${payeeNote === '' ? NOTHING : markup`<p>Note: <bdi>${payeeNote}</bdi></p>`}
<input type="hidden" name="reference" value="${operatorReference}">
<div class="choices">
<button id="approve-${operatorReference}" name="choice" value="approve" aria-describedby="${heading}">Approve</button>
<button id="fail-${operatorReference}" class="second" name="choice" value="fail" aria-describedby="${heading}">Fail</button>
</div>
</form>`;
}
