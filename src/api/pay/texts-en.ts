// The texts of the checkout pages in English. Other languages say the same, where their words are certain.

export const ENGLISH = {
  language: 'English',
  languages: 'Language',
  test: 'Test: no real money moves here.',
  'form.title': 'Pay {merchant}',
  'form.amount': 'Amount',
  'form.reference': 'Reference',
  'form.description': 'For',
  'words.by': 'Written by {merchant}',
  'form.phone': 'Your mobile-money number',
  'form.phone.hint': 'For example {example}. Works with: {operators}.',
  'form.country': 'Country of the number',
  'form.operator': 'If you moved this number to one of these, choose it',
  'form.pin':
    'A request comes to this phone, and you approve it there with your PIN. Never type your PIN on a web page.',
  'form.pay': 'Pay {amount}',
  'form.until': 'Open until {time}.',
  'form.last': 'You have paid here before.',
  'form.last.link': 'See your last payment',
  'error.title': 'There is a problem',
  'error.phone.missing': 'Type your mobile-money number.',
  'error.phone.invalid': 'We cannot read this as a mobile number. Type it like {example}.',
  'error.phone.unsupported': 'Nobody can pay here from this number. It works with: {operators}. Use another number.',
  'error.phone.longer':
    'Mobile numbers of {countries} have become longer, and this is a former one. Type it like {examples}.',
  'error.phone.country': 'This number exists in more than one country. Choose yours below.',
  'error.amount': 'This amount cannot be paid from this number. Ask {merchant} what to do, or use another number.',
  'starting.title': 'Asking {operator}',
  'starting.text': '{operator} will send a request to {phone}. Keep the phone at hand.',
  'prompted.title': 'Approve it on your phone',
  'prompted.text': '{operator} has sent a request for {amount} to {phone}.',
  'prompted.countdown': 'It stays open for (minutes:seconds)',
  'steps.title': 'What to do',
  'steps.open': 'Open the request on the phone {phone}.',
  'steps.check': 'Check that it says {amount}.',
  'steps.pin': 'Type your PIN on the phone to approve it.',
  'steps.dial': 'No request there? Dial {ussd} and look for approvals that wait for you.',
  'steps.menu': 'No request there? Open the menu or the app of {operator} and look for approvals that wait for you.',
  'steps.number':
    'Is this not your number? Do nothing: the request ends by itself, and then you can use another number.',
  'checking.title': 'Waiting for {operator}',
  'checking.text':
    '{operator} has not said yet whether you paid. Do not pay again. As soon as it is known, this page says so.',
  'live.auto': 'This page checks by itself every few seconds.',
  'live.check': 'Check again',
  'live.paidBefore':
    'This was already paid, by an earlier request. Do not approve the request that is on the phone now.',
  'paid.title': 'Paid',
  'paid.text': '{merchant} has your payment of {amount}.',
  'paid.twice': 'This was paid more than once. Ask {merchant} to give one payment back, and show them the receipts.',
  'paid.receipt': 'Receipt',
  'returned.title': 'Your money went back',
  'returned.text': 'You paid {amount}, and {operator} has returned it to you since.',
  'undecided.title': 'It is not known whether you paid',
  'undecided.text':
    'Look into your messages from {operator}. So that you do not pay twice, nothing more is taken for this here. Ask {merchant}, and tell them the reference below.',
  'over.title': 'Not paid',
  'over.again': 'Send a new request to {phone}',
  'over.other': 'Use another number',
  'over.elsewhere': 'It is already paid, by another request. There is nothing more to do.',
  'over.busy': 'Another attempt to pay this is in progress.',
  'over.waiting':
    'You can try again from {time}. Until then we make sure that the first request was not paid after all, so that you do not pay twice.',
  'over.closed': 'No new request can be sent: this payment page is closed. Ask {merchant} for a new one.',
  'return.link': 'Back to {merchant} ({host})',
  'receipt.title': 'Receipt',
  'receipt.to': 'Paid to',
  'receipt.time': 'Paid on',
  'receipt.from': 'Paid from',
  'receipt.id': 'Our number of the payment',
  'receipt.operator': 'Receipt of {operator}',
  'receipt.returned': 'This money has been returned since.',
  'receipt.print': 'To keep it, print this page or save it with your browser.',
  'receipt.back': 'Back to the payment',
  'completed.title': 'This is paid',
  'completed.text': '{merchant} has been paid. There is nothing more to do here.',
  'expired.title': 'This payment page is closed',
  'expired.text': 'Its time is over, and it accepts no more payments. Ask {merchant} for a new one.',
  'cancelled.title': 'This payment page is closed',
  'cancelled.text': '{merchant} has closed it. Ask them what to do.',
  'busy.title': 'A payment is in progress',
  'busy.text':
    'Somebody is paying this right now. If that is you, approve the request on your phone. If it fails, you can try again here.',
  'doubt.title': 'No payment is taken here now',
  'doubt.text':
    'It is not known whether an earlier attempt was paid. So that nobody pays twice, nothing more is taken for this here. Ask {merchant}.',
  'unserved.text':
    'No mobile-money operator takes this amount in this currency here. Ask {merchant} for another way to pay.',
  'waiting.title': 'A moment, please',
  'unknown.title': 'There is no such payment page',
  'unknown.text': 'Check the address, or ask the person who sent it to you.',
  'limited.title': 'Too many attempts',
  'limited.text': 'Nothing was sent to any phone. Wait {minutes} min, then try again.',
  'stale.title': 'This form cannot be used',
  'stale.text':
    'It did not come from our page, or your browser did not send its cookie back. Allow cookies for this site, and open the page again.',
  'away.title': 'We cannot take your payment right now',
  'away.text': 'Nothing was sent to your phone by this. Wait a minute, then try again.',
  'failed.title': 'Something went wrong',
  'failed.text': 'The fault is ours. Open the page again: it tells you whether a request was sent to your phone.',
  'request.id': 'When you ask for help, give this number: {id}',
  'page.open': 'Open the page again',
  'failure.payer_cancelled': 'The request was refused on the phone. If you want to pay, send a new one.',
  'failure.wrong_pin':
    'The PIN was wrong. Send a new request and type the right one. Have you forgotten it? Ask {operator}.',
  'failure.insufficient_funds':
    'There is not enough money in the account for this amount and the fee of {operator}. Add money to it, then send a new request, or use another number.',
  'failure.prompt_expired':
    'The request was not approved in time, and {operator} has closed it. Have the phone ready, then send a new one.',
  'failure.payer_unreachable':
    'The phone could not be reached. Turn it on, go where it has a signal, then send a new request.',
  'failure.payer_not_found':
    'This number has no mobile-money account with {operator}. Check the number, or use another one.',
  'failure.payer_limit_reached':
    'The account has reached a limit of {operator}. Use another number, or try again tomorrow.',
  'failure.payer_busy': 'Another request is open on the phone. Answer that one, wait a minute, then send a new one.',
  'failure.amount_not_allowed':
    '{operator} does not allow this amount for this account. Use another number, or ask {merchant}.',
  'failure.operator_unavailable':
    '{operator} could not take the request. Nobody was asked to pay. Try again in a few minutes.',
  'failure.service_unavailable':
    'We could not reach {operator} in time. Nobody was asked to pay. Try again in a few minutes.',
  'failure.already_returned': '{operator} has returned the money to you.',
  'failure.operator_rejected':
    '{operator} refused the request. Try again, or use another number. If it happens again, ask {merchant}.',
  'failure.unknown':
    '{operator} never said how this ended. Look into your messages from {operator}, and ask {merchant} before you pay again.',
} as const;

export type TextKey = keyof typeof ENGLISH;
/** The texts of one language. English replaces missing texts. */
export type Texts = Readonly<Partial<Record<TextKey, string>>>;
