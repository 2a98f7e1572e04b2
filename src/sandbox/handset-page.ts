// The handset page: a phone in the browser, on which the payer approves or declines a collection.
import { markup, NOTHING, type Markup } from './markup.ts';
import type { Transaction } from './transaction.ts';
import { money, outcomeText, phoneInGroups } from './words.ts';

export type HandsetView = {
  readonly phone: string;
  readonly prompts: readonly Transaction[];
  /** Recent decisions on this phone, newest first. */
  readonly decided: readonly Transaction[];
  readonly notice: string | null;
  /** The prompt at which an invalid PIN was entered. */
  readonly refusedPin: string | null;
};

/** Asks for a phone, and offers the phones with pending prompts. */
export function choosePhone(ringing: readonly string[], wrongPhone: string | null): Markup {
  const links = ringing.map(
    (phone) => markup`<li><a href="/sandbox/handset?phone=${phone}">${phoneInGroups(phone)}</a></li>`,
  );
  const wrong =
    wrongPhone === null
      ? NOTHING
      : markup`<p class="wrong" id="wrong-phone">A phone is 8 to 15 digits, country code first.</p>`;
  return markup`<form method="get" action="/sandbox/handset">
<label for="phone">Phone number</label>
<input id="phone" name="phone" type="tel" inputmode="numeric" autocomplete="off" maxlength="20" required
 placeholder="256772123099" value="${wrongPhone ?? ''}"${
   wrongPhone === null ? NOTHING : { html: ' aria-invalid="true" aria-describedby="wrong-phone"' }
 }>
${wrong}
<div class="choices"><button>Show this phone</button></div>
</form>
<h2>Phones that ring now</h2>
<div id="ringing" data-live>
${links.length === 0 ? markup`<p>None. <a href="/sandbox/handset">Look again</a></p>` : markup`<ul class="list">${links}</ul>`}
</div>`;
}

export function handset({ phone, prompts, decided, notice, refusedPin }: HandsetView): Markup {
  const shown = prompts.map((prompt, index) =>
    promptForm(prompt, {
      isRefused: prompt.operatorReference === refusedPin,
      hasFocus: refusedPin === null ? index === 0 : prompt.operatorReference === refusedPin,
    }),
  );
  const noticeLine = notice === null ? NOTHING : markup`<p class="said" role="status">${notice}</p>`;
  const lately = decided.map((transaction) => markup`<li>${money(transaction)} – ${outcomeText(transaction)}</li>`);
  return markup`${noticeLine}
<div class="phone"><section class="screen" aria-label="Screen of the phone ${phone}">
<p class="number">${phoneInGroups(phone)}</p>
<div id="screen" data-live>
${shown.length === 0 ? markup`<p>Nothing to approve. This page looks again by itself.</p>` : shown}
</div>
</section></div>
<p><a href="/sandbox/handset?phone=${phone}">Look again</a> · <a href="/sandbox/handset">Another phone</a></p>
<div id="lately" data-live>
${lately.length === 0 ? NOTHING : markup`<h2>Lately on this phone</h2><ul class="list">${lately}</ul>`}
</div>`;
}

/** The text of each operator on the screen. */
const PROMPTS: Readonly<Record<Transaction['wire'], (amount: string, account: string) => string>> = {
  'mtn-momo': (amount) => `Pay ${amount}?`,
  'airtel-money': (amount) => `Airtel Money: enter your PIN to pay ${amount}`,
  daraja: (amount, account) => `M-PESA: pay ${amount} to account ${account}? Enter your PIN`,
};

function promptForm(prompt: Transaction, { isRefused, hasFocus }: { isRefused: boolean; hasFocus: boolean }): Markup {
  const { operatorReference, externalId, payerMessage, wire } = prompt;
  const pin = `pin-${operatorReference}`;
  const wrong = `wrong-${operatorReference}`;
  return markup`<form class="card" method="post" action="/sandbox/handset">
<h2>${PROMPTS[wire](money(prompt), externalId ?? '')}</h2>
${payerMessage === '' ? NOTHING : markup`<p>Note: <bdi>${payerMessage}</bdi></p>`}
<input type="hidden" name="reference" value="${operatorReference}">
<label for="${pin}">PIN (any 4 or 5 digits)</label>
<input id="${pin}" name="pin" type="password" inputmode="numeric" pattern="[0-9]{4,5}" minlength="4" maxlength="5"
 autocomplete="off" required${hasFocus ? { html: ' autofocus' } : NOTHING}${
   isRefused ? markup` aria-invalid="true" aria-describedby="${wrong}"` : NOTHING
 }>
${isRefused ? markup`<p class="wrong" id="${wrong}">That is no PIN: it has 4 or 5 digits.</p>` : NOTHING}
<div class="choices">
<button name="choice" value="approve">Approve</button>
<button class="second" name="choice" value="wrong_pin" formnovalidate>Enter a wrong PIN</button>
<button class="second" name="choice" value="cancel" formnovalidate>Cancel</button>
</div>
</form>`;
}
