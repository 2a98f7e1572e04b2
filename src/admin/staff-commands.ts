// Every command of the staff: what it does, for its help page, which options it takes, and what it needs.
import type { z } from 'zod';
import type { StaffNeeds } from '../settings/config.ts';
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
import { approvePersonsRecovery, exportDataAbout, requestPersonsRecovery, showRecoveries } from './person-commands.ts';
import { withServerDatabase, type ServerFor } from './server-database.ts';
import * as options from './staff-options.ts';

export type StaffEnvironment = Readonly<Record<string, string | undefined>>;
/** What a command prints on standard output; without an exit code it is 0. */
export type StaffOutcome = { readonly text: string; readonly exitCode?: number };

export type StaffCommand = {
  /** What follows the name, for the first line of its help page. */
  readonly usage: string;
  readonly summary: string;
  readonly help: string;
  /** Which settings it cannot do without. */
  readonly needs: StaffNeeds | 'nothing';
  /** Throws a UsageError for options that it does not take, before anything is done. */
  read(given: object): (environment: StaffEnvironment) => Promise<StaffOutcome>;
};

type Text = Pick<StaffCommand, 'usage' | 'summary' | 'help'>;

type Run<Options, Server> = {
  /** The options that it takes. */
  readonly takes: z.ZodType<Options>;
  readonly run: (options: Options, server: Server) => Promise<string>;
};

function commandsOn<Needs extends StaffNeeds>(needs: Needs) {
  return <Options>({ takes, run, ...text }: Text & Run<Options, ServerFor[Needs]>): StaffCommand => ({
    ...text,
    needs,
    read(given) {
      const read = options.readOptions(takes, given);
      return async (environment) => ({
        text: await withServerDatabase(environment, needs, (server) => run(read, server)),
      });
    },
  });
}

const onPeople = commandsOn('database and keys');
/** Of these, the ones that need to know what the deployment reaches. */
const onMerchants = commandsOn('database, keys and operators');
/** Or that only say more where it is known. */
const onMerchantList = commandsOn('database, keys and operators if set');
const onPayments = commandsOn('database');

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

/** By name, in the order of the help page. Those that act name who of the staff does: they take `--staff`. */
export const STAFF_COMMANDS: Readonly<Record<string, StaffCommand>> = {
  doctor,
  merchants: onMerchantList({
    usage: '[--name NAME] [--after ID]',
    summary: 'the merchants, with their owners',
    help: `Shows the merchants, a hundred at a time: those whose name contains NAME, or all. For each merchant it shows the number
of people and owners, the changes that wait for a second person, and, where MALIPO_MTN_MOMO_TARGET_ENVIRONMENT is set, whether no
operator supports its currency here.`,
    takes: options.merchantList,
    run: showMerchants,
  }),
  create: onMerchants({
    usage: '--name NAME --currency CODE --email ADDRESS [--email ADDRESS] --staff NAME',
    summary: 'create a merchant, and invite its owners',
    help: `Creates a merchant and prints an invitation for each of its first owners, one or two. The holder of an invitation becomes
that owner: hand it to them and to nobody else. It works once, for 7 days. An operator here must support the currency.
Name two owners if there are two people. From then on two people must agree before anybody gets a role that moves money
out, even before the second owner accepts. A single owner can invite another account of their own, and then move money
alone.`,
    takes: options.newMerchant,
    run: createMerchantWithOwners,
  }),
  waiting: onPeople({
    usage: '[--merchant ID]',
    summary: 'what waits for a second owner or admin',
    help: 'Shows what waits for a second owner or admin of one merchant, or of all.',
    takes: options.anyMerchant,
    run: showWaitingChanges,
  }),
  approve: onPeople({
    usage: '--merchant ID --change ID --staff NAME',
    summary: 'approve such a change in place of a second person who is gone',
    help: `Approves a waiting change, in place of a second person who is gone. First make sure, outside the console, that the
merchant wants the change. The audit log of the merchant records who of the staff approved it.`,
    takes: options.waitingChange,
    run: approveWaitingChange,
  }),
  recover: onPeople({
    usage: '--email ADDRESS --reason TEXT --staff NAME',
    summary: 'request the recovery of an account',
    help: `Requests the recovery of an account whose person lost the password or second factor. First verify who they are.
The request alone has no effect: another member of the staff must approve it within 24 hours.`,
    takes: options.lostPerson,
    run: requestPersonsRecovery,
  }),
  recoveries: onPeople({
    usage: '',
    summary: 'the recoveries that wait for a second member of the staff',
    help: 'Shows the recoveries that wait for a second member of the staff, with who requested them and why.',
    takes: options.nothing,
    run: (_none, server) => showRecoveries(server),
  }),
  'approve-recovery': onPeople({
    usage: '--recovery ID --staff NAME',
    summary: 'approve such a recovery, and get the token for the person',
    help: `Approves a recovery and prints a token with which the person sets a new password. The member of the staff who
requested the recovery cannot approve it. The token works once, for 24 hours. Its use removes the second factor and
ends the sessions of the person. At log-in, the owners of the person's merchants see each step and who took it.`,
    takes: options.approvedRecovery,
    run: approvePersonsRecovery,
  }),
  discrepancies: onPayments({
    usage: '',
    summary: 'the open discrepancies between operators and ended payments',
    help: 'Shows, for all merchants, the ended payments that an operator reports differently, until each is settled.',
    takes: options.nothing,
    run: (_none, server) => showDiscrepancies(server),
  }),
  settle: onPayments({
    usage: '--id NUMBER --how TEXT --staff NAME',
    summary: 'record how a discrepancy was settled',
    help: `Records how a discrepancy was settled with the operator and the merchant. It moves no money. The check of the ledger
no longer names the discrepancy. The merchant's audit log shows the text and which member of the staff wrote it.`,
    takes: options.settledDiscrepancy,
    run: settleOpenDiscrepancy,
  }),
  quarantined: onPayments({
    usage: '',
    summary: 'the work whose workflow fails again and again',
    help: `Shows, for all merchants, the payments and deliveries whose workflow failed so often that it is retried only once an
hour. The log and the Temporal UI give the reason.`,
    takes: options.nothing,
    run: (_none, server) => showQuarantinedWork(server),
  }),
  breakers: onPayments({
    usage: '',
    summary: 'which operators are not called now, and why',
    help: `Shows the breakers that are not closed. While one is open, payments wait: nobody calls that product of the operator, except
one call after each pause, which closes the breaker when the operator answers.`,
    takes: options.nothing,
    run: (_none, server) => showBreakers(server),
  }),
  'breaker open': onPayments({
    usage: '--operator ID --product NAME --reason TEXT --staff NAME',
    summary: 'stop all calls to an operator until you close the breaker',
    help: `Opens a breaker: nobody sends a payment to that product of the operator or asks about one, in any process, until a person
closes the breaker. What is under way ends. Payments wait; collections that cannot be asked for in time expire.`,
    takes: options.openedBreaker,
    run: openBreakerByHand,
  }),
  'breaker close': onPayments({
    usage: '--operator ID --product NAME --staff NAME',
    summary: 'call an operator again at once',
    help: `Closes a breaker, whoever opened it. It opens again by itself where the operator still takes no calls.`,
    takes: options.closedBreaker,
    run: closeBreakerByHand,
  }),
  'rebuild-totals': onPayments({
    usage: '--merchant ID',
    summary: 'count a merchant’s payments again',
    help: 'Counts the payments of a merchant again, for the totals in its console. Payments continue meanwhile.',
    takes: options.oneMerchant,
    run: rebuildMerchantTotals,
  }),
  'personal-data': onPeople({
    usage: '--phone NUMBER|--email ADDRESS --staff NAME',
    summary: 'what is stored about a phone number or a person',
    help: `Prints what is stored about a phone number or a person, at all merchants, as JSON lines. The audit log of each
merchant concerned records the export, and which member of the staff made it.`,
    takes: options.personOrPhone,
    run: exportDataAbout,
  }),
  'audit verify': onPeople({
    usage: '[--merchant ID|service] [--head POSITION:HASH]…',
    summary: 'whether audit logs are as they were recorded',
    help: `Recomputes the hash chain of one audit log, or of all, and checks the heads that were signed each day. It fails
when an entry was changed, removed or added by hand. --head names a head that was kept elsewhere: the server's log has
one head a day for each merchant.`,
    takes: options.auditHeads,
    run: verifyAuditLogs,
  }),
  'audit export': onPayments({
    usage: '--merchant ID|service [--after POSITION]',
    summary: 'print an audit log',
    help: 'Prints an audit log as JSON lines. Each line has the SHA-256 of the previous line.',
    takes: options.auditPlace,
    run: exportAuditLog,
  }),
  'attestations verify': onPeople({
    usage: '',
    summary: 'whether the service wrote the rows that grant rights',
    help: `Names each row that grants rights (people, members, keys, policies, proposals) and that the service did not write as
it is. The service ignores these rows: restore them from a backup.`,
    takes: options.nothing,
    run: (_none, server) => attestAllRows('verify', { staff: null }, server),
  }),
  'attestations renew': onPeople({
    usage: '--staff NAME',
    summary: 'attest these rows with the first key, so that others can go',
    help: 'Attests these rows with the first of MALIPO_ATTESTATION_KEYS, so that the other keys can be removed.',
    takes: options.staffAlone,
    run: (by, server) => attestAllRows('renew', by, server),
  }),
};
