// Every command of the staff: what it does, for its help page, which options it takes, and what it needs.
import { ACCOUNT_COMMANDS } from './account-commands.ts';
import { attestAllRows, exportAuditLog, verifyAuditLogs } from './audit-commands.ts';
import {
  approveWaitingChange,
  createMerchantWithOwners,
  rebuildMerchantTotals,
  showMerchants,
  showWaitingChanges,
} from './merchant-commands.ts';
import {
  closeBreakerByHand,
  openBreakerByHand,
  settleOpenDiscrepancy,
  showBreakers,
  showDiscrepancies,
  showQuarantinedWork,
} from './payment-commands.ts';
import { proposeOpening, showRecovery } from './recovery-commands.ts';
import { exportDataAbout, proposeRecovery } from './person-commands.ts';
import { actsOn, enrolsOn, readsOn, type StaffCommand } from './staff-command.ts';
import {
  announceProposal,
  beginWithTwo,
  decideProposal,
  enrolOneself,
  proposeAddition,
  proposeForMember,
  showProposals,
  showStaff,
} from './staff-member-commands.ts';
import * as options from './staff-options.ts';

const reads = readsOn('database');
/** Of these, the ones that read rows that are attested. */
const readsPeople = readsOn('database and keys');
const acts = actsOn('database and all keys');
const enrols = enrolsOn('database and all keys');

const doctor: StaffCommand = {
  usage: '',
  summary: 'what is wrong with this deployment, and the remedies',
  help: `Checks the settings, the database, Temporal, the work and the housekeeping, and says what is wrong, with the remedy. It
changes nothing, and checks whatever can be reached while the rest is down. A note is information and no fault.
docs/doctor.md lists every check. The exit code is 1 when something is wrong, and 0 otherwise.`,
  needs: 'nothing',
  read(given) {
    options.readOptions(options.nothing, given);
    // Loaded only here, because the Temporal SDK takes longer to load than another command to run.
    return async (environment) => (await import('./doctor/doctor.ts')).examine(environment);
  },
};

/** By name, in the order of the help page. Those that act take `--as`: one of the staff logs in for them. */
export const STAFF_COMMANDS: Readonly<Record<string, StaffCommand>> = {
  doctor,
  list: readsPeople({
    usage: '',
    summary: 'the staff, and who added whom',
    help: 'Shows everybody of the staff, and who ended. Rows that the service did not write are left out, and named.',
    takes: options.nothing,
    run: (_none, server) => showStaff(server),
  }),
  begin: enrols({
    usage: '--name NAME --name NAME',
    summary: 'make the first two of the staff; it works once',
    help: `Makes the first two people of the staff, both at this terminal: each chooses a password of 12 characters or more, gets a
secret for an authenticator app, and enters its first code. It works once, and never again.`,
    takes: options.firstStaff,
    run: beginWithTwo,
  }),
  add: acts({
    usage: '--name NAME --as NAME',
    summary: 'propose one more of the staff',
    help: `Proposes one more of the staff. Another one of the staff must confirm it within 24 hours. Each of the two gets a token,
and the new person enrols with both.`,
    takes: options.namedStaff,
    run: proposeAddition,
  }),
  reset: acts({
    usage: '--name NAME --as NAME',
    summary: 'propose another password and second factor for one of the staff',
    help: `Proposes another password and second factor for one of the staff, who lost them. First verify who they are. Another one
of the staff must confirm it within 24 hours: then the old ones open nothing, what the person proposed is rejected, and
they enrol with a token from each of the two.`,
    takes: options.namedStaff,
    run: (read, server) => proposeForMember('staff_reset', read, server),
  }),
  end: acts({
    usage: '--name NAME --as NAME',
    summary: 'propose that somebody is no longer one of the staff',
    help: `Proposes that somebody is no longer one of the staff. Another one of the staff must confirm it within 24 hours. It is
for ever, and the name is never given to another person.`,
    takes: options.namedStaff,
    run: (read, server) => proposeForMember('staff_end', read, server),
  }),
  enrol: enrols({
    usage: '--name NAME',
    summary: 'choose your password and second factor, with the two tokens',
    help: `For a person whom two of the staff added or reset, with the token that each of the two passed on. The command asks for
both, then for a password of 12 characters or more, shows a secret for an authenticator app, and asks for its first code.`,
    takes: options.enrolledStaff,
    run: enrolOneself,
  }),
  proposals: readsPeople({
    usage: '',
    summary: 'what one of the staff proposed and another one must confirm',
    help: 'Shows what waits for another one of the staff, with who proposed it and until when it can be confirmed.',
    takes: options.nothing,
    run: (_none, server) => showProposals(server),
  }),
  confirm: acts({
    usage: '--proposal ID --as NAME',
    summary: 'confirm such a proposal: it is done at once',
    help: `Confirms and carries out the proposal of another member of the staff. The proposer cannot confirm it. If a person
must enrol or set a new password, the command prints a token for that person.`,
    takes: options.decidedProposal,
    announce: announceProposal,
    run: (read, server) => decideProposal('confirmed', read, server),
  }),
  reject: acts({
    usage: '--proposal ID --as NAME',
    summary: 'reject such a proposal, or take one back',
    help: 'Rejects what one of the staff proposed, who may do so too. Nobody can confirm it any more.',
    takes: options.decidedProposal,
    announce: announceProposal,
    run: (read, server) => decideProposal('rejected', read, server),
  }),
  merchants: readsPeople({
    usage: '[--name NAME] [--after ID]',
    summary: 'the merchants, with their owners',
    help: `Shows the merchants, a hundred at a time: those whose name contains NAME, or all. For each merchant it shows the number
of people and owners, the changes that wait for a second person, and whether no operator supports its currency here.`,
    takes: options.merchantList,
    run: showMerchants,
  }),
  create: acts({
    usage: '--name NAME --currency CODE --email ADDRESS [--email ADDRESS] --as NAME',
    summary: 'create a merchant, and invite its owners',
    help: `Creates a merchant and prints an invitation for each of its first owners, one or two. The holder of an invitation becomes
that owner: hand it to them and to nobody else. It works once, for 7 days. An operator here must support the currency.
Name two owners if there are two people. From then on two people must agree before anybody gets a role that moves money
out, even before the second owner accepts. A single owner can invite another account of their own, and then move money
alone.`,
    takes: options.newMerchant,
    run: createMerchantWithOwners,
  }),
  waiting: readsPeople({
    usage: '[--merchant ID]',
    summary: 'what waits for a second owner or admin',
    help: 'Shows what waits for a second owner or admin of one merchant, or of all.',
    takes: options.anyMerchant,
    run: showWaitingChanges,
  }),
  approve: acts({
    usage: '--merchant ID --change ID --as NAME',
    summary: 'approve such a change in place of a second person who is gone',
    help: `Approves a waiting change, in place of a second person who is gone. First make sure, outside the console, that the
merchant wants the change. The audit log of the merchant records who of the staff approved it.`,
    takes: options.waitingChange,
    run: approveWaitingChange,
  }),
  recovery: reads({
    usage: '',
    summary: 'whether the service is in recovery after a restore, and what is missing',
    help: `Shows each restore of the database that was found, from when to when records are missing, and how many payments the operators
may know otherwise. MalipoInRecovery in the runbook says what to compare.`,
    takes: options.nothing,
    run: (_none, server) => showRecovery(server),
  }),
  'recovery open': acts({
    usage: '--reason TEXT --as NAME',
    summary: 'propose that the service sends and decides again',
    help: `Proposes the end of the recovery. Another one of the staff must confirm it within 24 hours; then everything goes on at once. What
nobody compared with the operators may be paid twice: the reason says what you compared, and is in the audit log.`,
    takes: options.openedRecovery,
    run: proposeOpening,
  }),
  recover: acts({
    usage: '--email ADDRESS --reason TEXT --as NAME',
    summary: 'propose to let a person in again',
    help: `Proposes to give a person who lost the password or second factor a token with which they set a new password. First
verify who they are. Another one of the staff must confirm it within 24 hours, and gets the token. Its use removes the
second factor and ends the sessions of the person. At log-in, the owners of the person's merchants see each step and who
took it.`,
    takes: options.lostPerson,
    run: proposeRecovery,
  }),
  discrepancies: reads({
    usage: '',
    summary: 'the open discrepancies between operators and ended payments',
    help: 'Shows, for all merchants, the ended payments that an operator reports differently, until each is settled.',
    takes: options.nothing,
    run: (_none, server) => showDiscrepancies(server),
  }),
  settle: acts({
    usage: '--id NUMBER --how TEXT --as NAME',
    summary: 'record how a discrepancy was settled',
    help: `Records how a discrepancy was settled with the operator and the merchant. It moves no money. The check of the ledger
no longer names the discrepancy. The merchant's audit log shows the text and which member of the staff wrote it.`,
    takes: options.settledDiscrepancy,
    run: settleOpenDiscrepancy,
  }),
  quarantined: reads({
    usage: '',
    summary: 'the work whose workflow fails again and again',
    help: `Shows, for all merchants, the payments and deliveries whose workflow failed so often that it is retried only once an
hour. The log and the Temporal UI give the reason.`,
    takes: options.nothing,
    run: (_none, server) => showQuarantinedWork(server),
  }),
  ...ACCOUNT_COMMANDS,
  breakers: reads({
    usage: '',
    summary: 'which operators are not called now, and why',
    help: `Shows the breakers that are not closed. While one is open, payments wait: nobody calls that product of the operator, except
one call after each pause, which closes the breaker when the operator answers.`,
    takes: options.nothing,
    run: (_none, server) => showBreakers(server),
  }),
  'breaker open': acts({
    usage: '--operator ID --product NAME --reason TEXT --as NAME',
    summary: 'stop all calls to an operator until you close the breaker',
    help: `Opens a breaker: no process sends a payment to that product of the operator or queries a status, until a person closes
the breaker. Calls in progress end normally. Payments wait; collections that cannot be requested in time expire.`,
    takes: options.openedBreaker,
    run: openBreakerByHand,
  }),
  'breaker close': acts({
    usage: '--operator ID --product NAME --as NAME',
    summary: 'call an operator again at once',
    help: `Closes a breaker, even if a process opened it. It opens again by itself if the operator still takes no calls.`,
    takes: options.closedBreaker,
    run: closeBreakerByHand,
  }),
  'rebuild-totals': acts({
    usage: '--merchant ID --as NAME',
    summary: 'count a merchant’s payments again',
    help: 'Counts the payments of a merchant again, for the totals in its console. Payments continue meanwhile.',
    takes: options.actOnMerchant,
    run: rebuildMerchantTotals,
  }),
  'personal-data': acts({
    usage: '--phone NUMBER|--email ADDRESS --as NAME',
    summary: 'what is stored about a phone number or a person',
    help: `Prints what is stored about a phone number or a person, at all merchants, as JSON lines. The audit log of each
merchant concerned records the export, and which member of the staff made it.`,
    takes: options.personOrPhone,
    run: exportDataAbout,
  }),
  'audit verify': readsPeople({
    usage: '[--merchant ID|service] [--head POSITION:HASH]…',
    summary: 'whether audit logs are as they were recorded',
    help: `Recomputes the hash chain of one audit log, or of all, and checks the heads that were signed each day. It fails
when an entry was changed, removed or added by hand. --head names a head that was kept elsewhere: the server's log has
one head a day for each merchant.`,
    takes: options.auditHeads,
    run: verifyAuditLogs,
  }),
  'audit export': reads({
    usage: '--merchant ID|service [--after POSITION]',
    summary: 'print an audit log',
    help: 'Prints an audit log as JSON lines. Each line has the SHA-256 of the previous line.',
    takes: options.auditPlace,
    run: exportAuditLog,
  }),
  'attestations verify': readsPeople({
    usage: '',
    summary: 'whether the service wrote the rows that grant rights',
    help: `Names each row that grants rights (people, members, keys, policies, proposals) and that the service did not write as
it is. The service ignores these rows: restore them from a backup.`,
    takes: options.nothing,
    run: (_none, server) => attestAllRows('verify', { ...server, by: null }),
  }),
  'attestations renew': acts({
    usage: '--as NAME',
    summary: 'attest these rows with the first key, so that others can go',
    help: 'Attests these rows with the first of MALIPO_ATTESTATION_KEYS, so that the other keys can be removed.',
    takes: options.asAlone,
    run: (_as, server) => attestAllRows('renew', server),
  }),
};
