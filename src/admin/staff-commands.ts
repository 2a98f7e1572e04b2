// Every command of the staff: what it does, for its help page, which options it takes, and what it needs.
import type { z } from 'zod';
import type { StaffNeeds } from '../config.ts';
import { attestAllRows } from './attestation-commands.ts';
import { exportAuditLog, verifyAuditLogs } from './audit-commands.ts';
import { settleOpenDiscrepancy, showDiscrepancies } from './discrepancy-commands.ts';
import {
  approveWaitingChange,
  createMerchantWithOwners,
  showMerchants,
  showWaitingChanges,
} from './merchant-commands.ts';
import { exportDataAbout } from './personal-data-command.ts';
import { approvePersonsRecovery, requestPersonsRecovery, showRecoveries } from './recovery-commands.ts';
import {
  withAttestedDatabase,
  withServedDatabase,
  withStaffDatabase,
  type AttestedDatabase,
  type ServedDatabase,
  type StaffDatabase,
} from './server-database.ts';
import * as options from './staff-options.ts';
import { rebuildMerchantTotals } from './totals-command.ts';
import { showQuarantinedWork } from './work-commands.ts';

export type StaffEnvironment = Readonly<Record<string, string | undefined>>;
/** What a command prints on standard output; without an exit code it is 0. */
export type StaffOutcome = { readonly text: string; readonly exitCode?: number };

export type StaffCommand = {
  /** What follows the name, for the first line of its help page. */
  readonly usage: string;
  /** Its line in the list of commands. */
  readonly summary: string;
  readonly help: string;
  /** Which settings it cannot do without. */
  readonly needs: StaffNeeds | 'nothing';
  /** Throws a UsageError for options that it does not take, before anything is done. */
  read(given: object): (environment: StaffEnvironment) => Promise<StaffOutcome>;
};

type Text = Pick<StaffCommand, 'usage' | 'summary' | 'help'>;

type WithServer<Server> = (environment: StaffEnvironment, run: (server: Server) => Promise<string>) => Promise<string>;

function commandsOn<Server>(needs: StaffNeeds, withServer: WithServer<Server>) {
  return <Options>(
    text: Text,
    schema: z.ZodType<Options>,
    run: (options: Options, server: Server) => Promise<string>,
  ): StaffCommand => ({
    ...text,
    needs,
    read(given) {
      const read = options.readOptions(schema, given);
      return async (environment) => ({ text: await withServer(environment, (server) => run(read, server)) });
    },
  });
}

/** Commands that read or write who may do what. */
const onPeople = commandsOn<AttestedDatabase>('database and keys', withAttestedDatabase);
/** Of these, the ones that need to know what the deployment reaches. */
const onMerchants = commandsOn<ServedDatabase>('database, keys and operators', withServedDatabase);
/** Commands that have nothing to do with people. */
const onPayments = commandsOn<StaffDatabase>('database', withStaffDatabase);

const doctor: StaffCommand = {
  usage: '',
  summary: 'what is wrong with this deployment, each with its remedy',
  help: `Looks at the settings, the database, Temporal, the work and the housekeeping, and says what is wrong, with the remedy. It
changes nothing, and looks at whatever can be reached while the rest is down. What is a note is for you to know, and no
fault. docs/doctor.md has everything that it looks at. The exit code is 1 when something is wrong, and 0 otherwise.`,
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
  merchants: onMerchants(
    {
      usage: '[--name NAME] [--after ID]',
      summary: 'the merchants, with their owners',
      help: `Shows the merchants, a hundred at a time: those whose name has these letters in it, or all. Of each how many people and
owners it has, how much waits for a second one of them, and whether no operator takes its currency here.`,
    },
    options.merchantList,
    showMerchants,
  ),
  create: onMerchants(
    {
      usage: '--name NAME --currency CODE --email ADDRESS [--email ADDRESS] --staff NAME',
      summary: 'make a merchant, and invite its owners',
      help: `Makes a merchant and prints an invitation for each of its first owners, one or two. Who holds it becomes that
owner: hand it to them and to nobody else. It works once, for 7 days. The currency is one that an operator takes here.
Name two, if there are two people. From then on nobody gets a part in moving money out unless two agree, also
while the second has not come in yet; an only owner can let in a second self, and then move money alone.`,
    },
    options.newMerchant,
    createMerchantWithOwners,
  ),
  waiting: onPeople(
    {
      usage: '[--merchant ID]',
      summary: 'what waits for a second owner or admin',
      help: 'Shows what waits for a second owner or admin of one merchant, or of all.',
    },
    options.anyMerchant,
    showWaitingChanges,
  ),
  approve: onPeople(
    {
      usage: '--merchant ID --change ID --staff NAME',
      summary: 'agree to it in the place of a second person who is gone',
      help: `Agrees to what waits, in the place of a second person who is gone. Make sure first, by another way than the
console, that it is what the merchant wants. Its audit log says which of the staff did it.`,
    },
    options.waitingChange,
    approveWaitingChange,
  ),
  recover: onPeople(
    {
      usage: '--email ADDRESS --reason TEXT --staff NAME',
      summary: 'request that a person is let in again',
      help: `Requests that a person who lost their password or second factor is let in again. Make sure first who they are.
It opens nothing by itself: another one of the staff must approve it within 24 hours.`,
    },
    options.lostPerson,
    requestPersonsRecovery,
  ),
  recoveries: onPeople(
    {
      usage: '',
      summary: 'the requests that wait for a second one of the staff',
      help: 'Shows the requests that wait for a second one of the staff, with who made them and why.',
    },
    options.nothing,
    (_none, server) => showRecoveries(server),
  ),
  'approve-recovery': onPeople(
    {
      usage: '--recovery ID --staff NAME',
      summary: 'approve one of these, and get the person’s token',
      help: `Approves a recovery, for another one of the staff than the one who requested it, and prints a token
with which the person sets a new password. It works once, for 24 hours. Its use takes the second factor away
and ends their sessions. The owners of the person's merchants see all of it when they log in, and who it was.`,
    },
    options.approvedRecovery,
    approvePersonsRecovery,
  ),
  discrepancies: onPayments(
    {
      usage: '',
      summary: 'what operators say otherwise of payments that have ended',
      help: 'Shows what operators say otherwise of payments that have ended here, of all merchants, until it is settled.',
    },
    options.nothing,
    (_none, server) => showDiscrepancies(server),
  ),
  settle: onPayments(
    {
      usage: '--id NUMBER --how TEXT --staff NAME',
      summary: 'write down how one of these was settled',
      help: `Writes down how a discrepancy was settled, with the operator and the merchant. It moves no money. The check of the
ledger names it no more, and the merchant's audit log shows the words, and which of the staff wrote them.`,
    },
    options.settledDiscrepancy,
    settleOpenDiscrepancy,
  ),
  quarantined: onPayments(
    {
      usage: '',
      summary: 'the work whose workflow fails again and again',
      help: `Shows the payments and deliveries of all merchants whose workflow failed so often that it is tried once an
hour. The log and the Temporal UI say why.`,
    },
    options.nothing,
    (_none, server) => showQuarantinedWork(server),
  ),
  'rebuild-totals': onPayments(
    {
      usage: '--merchant ID',
      summary: 'count a merchant’s payments again',
      help: 'Counts the payments of a merchant again, for the totals that its console shows. Payments go on meanwhile.',
    },
    options.oneMerchant,
    rebuildMerchantTotals,
  ),
  'personal-data': onPeople(
    {
      usage: '--phone NUMBER|--email ADDRESS --staff NAME',
      summary: 'what is stored about a phone number or a person',
      help: `Prints what is stored about a phone number or a person, at all merchants, as JSON lines. The audit log of each
merchant concerned says that it was done, and by whom of the staff.`,
    },
    options.personOrPhone,
    exportDataAbout,
  ),
  'audit verify': onPeople(
    {
      usage: '[--merchant ID|service] [--head POSITION:HASH]…',
      summary: 'whether audit logs are as they were recorded',
      help: `Recomputes the hash chain of one audit log, or of all, and checks the heads that were signed each day. It fails
when an entry was changed, removed or added by hand. --head gives a head that was kept elsewhere: the server's log has
one a day for each merchant.`,
    },
    options.auditHeads,
    verifyAuditLogs,
  ),
  'audit export': onPayments(
    {
      usage: '--merchant ID|service [--after POSITION]',
      summary: 'print an audit log',
      help: 'Prints an audit log as JSON lines. Each line has the SHA-256 of the line of the entry before it.',
    },
    options.auditPlace,
    exportAuditLog,
  ),
  'attestations verify': onPeople(
    {
      usage: '',
      summary: 'whether the rows that say who may do what are ours',
      help: `Names the rows that say who may do what (people, members, keys, policies, proposals) and that no process of
the service wrote as they are. They count for nothing: restore them from a backup.`,
    },
    options.nothing,
    (_none, server) => attestAllRows('verify', { staff: null }, server),
  ),
  'attestations renew': onPeople(
    {
      usage: '--staff NAME',
      summary: 'attest them with the first key, so that others can go',
      help: 'Attests them with the first of MALIPO_ATTESTATION_KEYS, so that the others can be removed.',
    },
    options.staffAlone,
    (by, server) => attestAllRows('renew', by, server),
  ),
  'attestations adopt': onPeople(
    {
      usage: '--staff NAME',
      summary: 'attest those, too, that are older than attestations',
      help: `Attests those, too, that have no attestation, because they are older than attestations. Do it once, right
after that update: you vouch that nobody wrote one of them by hand.`,
    },
    options.staffAlone,
    (by, server) => attestAllRows('adopt', by, server),
  ),
};
