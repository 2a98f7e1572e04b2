// The page of the transactions: the operator's data of every payment, and a decision for each undecided payment.
import { behaviourOf } from './behaviours.ts';
import { markup, NOTHING, type Markup } from './markup.ts';
import type { Transaction } from './transaction.ts';
import { kindInWords, money, phoneInGroups, stateInWords } from './words.ts';

export type TransactionsView = {
  readonly shown: readonly Transaction[];
  readonly phone: string;
  readonly notice: string | null;
  /** The query string of the page's address, to which a decision returns. */
  readonly search: string;
};

export function transactionsPage({ shown, phone, notice, search }: TransactionsView): Markup {
  const noticeLine = notice === null ? NOTHING : markup`<p class="said" role="status">${notice}</p>`;
  const rows = shown.map((transaction) => row(transaction, search));
  return markup`${noticeLine}
<p>What the operator knows, newest first. An undecided payment can be approved or declined here before the table does; one whose phone ends
in 099 waits for that. For programs the same address answers in JSON.</p>
<form method="get" action="/sandbox/transactions" class="search">
<label for="phone">Phone</label>
<input id="phone" name="phone" type="tel" inputmode="numeric" autocomplete="off" maxlength="20" placeholder="all" value="${phone}">
<button>Show</button>
</form>
<noscript><p><a href="/sandbox/transactions${search}">Look again</a></p></noscript>
<div id="transactions" data-live>
${
  rows.length === 0
    ? markup`<p>None yet${phone === '' ? '' : ' of this phone'}.</p>`
    : markup`<div class="scroll" tabindex="0" role="region" aria-label="Transactions"><table class="transactions">
<thead><tr><th scope="col">Received</th><th scope="col">What</th><th scope="col">Phone</th><th scope="col">Amount</th><th scope="col">State</th>
<th scope="col">Callbacks</th></tr></thead>
<tbody>${rows}</tbody></table></div>`
}
</div>`;
}

function row(transaction: Transaction, search: string): Markup {
  const { operatorReference, kind, phone, state, externalId, callbacksSent, receivedAtMs } = transaction;
  const { row: ending, behaviour } = behaviourOf(transaction);
  const received = new Date(receivedAtMs).toISOString();
  return markup`<tr class="${state.toLowerCase()}">
<td data-label="Received"><time datetime="${received}" title="${received}">${received.slice(11, 19)}</time></td>
<td data-label="What">${kindInWords(kind)}<br><span class="quiet">${externalId ?? operatorReference}</span></td>
<td data-label="Phone"><a href="/sandbox/transactions?phone=${phone}">${phoneInGroups(phone)}</a><br>
<span class="quiet">${ending === 'other' ? 'no row: paid' : `${ending}: ${behaviour.summary}`}</span></td>
<td data-label="Amount" class="amount">${money(transaction)}</td>
<td data-label="State"><span class="state">${stateInWords(transaction)}</span>${state === 'PENDING' ? decision(transaction, search) : NOTHING}</td>
<td data-label="Callbacks">${callbacksSent}</td>
</tr>`;
}

function decision(transaction: Transaction, search: string): Markup {
  const { operatorReference, phone } = transaction;
  const what = `${money(transaction)}, ${phoneInGroups(phone)}`;
  return markup`<form method="post" action="/sandbox/transactions${search}" class="choices">
<input type="hidden" name="reference" value="${operatorReference}">
<button id="approve-${operatorReference}" name="choice" value="approve" aria-label="Approve ${what}">Approve</button>
<button id="decline-${operatorReference}" class="second" name="choice" value="decline" aria-label="Decline ${what}">Decline</button>
</form>`;
}
