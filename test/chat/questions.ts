/** A Neuron of the handbook that the questions are asked of. */
export type HandbookNeuron = { seqId: string; title: string; body: string }

/** The handbook of a small software company's operations team: short pages that share many words. */
export const neurons: readonly HandbookNeuron[] = [
  {
    seqId: 'handbook_00000001',
    title: 'VIP customers',
    body: `A customer is VIP when the contract says so; sales keeps the list in the CRM.

When a VIP customer raises a ticket, page the on-call lead at once, whatever the severity. Do not wait for triage.

VIP tickets are never closed without a call to the customer's account manager.`,
  },
  {
    seqId: 'handbook_00000002',
    title: 'Severity levels',
    body: `Every incident gets a severity from the person who opens it. The on-call engineer may change it.

| Severity | Meaning | First response |
|---|---|---|
| SEV1 | The product is down for everyone | 15 minutes |
| SEV2 | A main feature is broken for many customers | 1 hour |
| SEV3 | A defect with a workaround | 1 business day |

A SEV1 wakes people at night. Lower severities wait for office hours.`,
  },
  {
    seqId: 'handbook_00000003',
    title: 'On-call rotation',
    body: `The rotation changes every Tuesday at 10:00 UTC. Each engineer is on call for one week, with a secondary who takes over after ten minutes without an acknowledgement.

Swaps are agreed in the #oncall channel and entered in the pager by the person who gives the shift away.

On-call duty is paid with a flat 300 euros a week, and a day off after any night with more than two pages.`,
  },
  {
    seqId: 'handbook_00000004',
    title: 'Post-incident review',
    body: `Every SEV1 and SEV2 gets a written review within five working days. The incident commander writes it.

Reviews are blameless: they describe what the system made easy and what it made hard.

Action items go into the tracker with an owner and a due date, and are read out in the Monday meeting until they are done.`,
  },
  {
    seqId: 'handbook_00000005',
    title: 'Database backups',
    body: `The production database is backed up every night at 02:00 UTC to the object store in Frankfurt. Write-ahead logs are shipped every five minutes.

Backups are kept for 35 days. The first backup of each month is kept for a year.

A restore is rehearsed once a quarter on a scratch host; the platform team signs the record.`,
  },
  {
    seqId: 'handbook_00000006',
    title: 'Restoring the database',
    body: `Only restore after the incident commander has said so.

1. Stop the API and the workers.
2. Create an empty instance with the same version.
3. Fetch the newest base backup and replay the write-ahead log:

\`\`\`sh
pg-restore-from --bucket prod-backups --target-time "<time>"
\`\`\`

4. Run the consistency check and compare the row counts.
5. Point the API at the new instance and start it.

A full restore takes about 90 minutes.`,
  },
  {
    seqId: 'handbook_00000007',
    title: 'Deployments',
    body: `Deployments go out from Monday to Thursday between 08:00 and 15:00 UTC. There are no deployments on Fridays or before public holidays.

A deployment starts with a canary that takes 5 % of the traffic for 20 minutes. If its error rate stays below 0.5 %, the rollout goes on by itself.

Emergency fixes may go out at any time with the approval of the incident commander.`,
  },
  {
    seqId: 'handbook_00000008',
    title: 'Rolling back',
    body: `Roll back first and look for the cause later.

Run \`shipctl rollback <service>\` from any workstation. It takes under three minutes and needs no approval.

A rollback does not undo database migrations. If the release had one, call the platform team before rolling back.`,
  },
  {
    seqId: 'handbook_00000009',
    title: 'Rotating credentials',
    body: `API keys of third parties are rotated every 90 days, signing keys once a year, and at once when someone with access leaves.

To rotate the signing key:

1. Create the new key in the vault with the label \`next\`.
2. Wait one hour so that every service has loaded it.
3. Promote it with \`vaultctl promote signing\`.
4. Delete the old key after seven days.

Never paste a key into chat. A key that was pasted counts as leaked.`,
  },
  {
    seqId: 'handbook_00000010',
    title: 'Leaked secrets',
    body: `Whoever finds a leaked secret reports it to security@example.com and in #security, without quoting it.

Revoke the secret before anything else; a few minutes of downtime are cheaper than a stolen key. Then look through the access log of the last 30 days for use that was not ours.

The data protection officer decides whether customers must be told. The law gives 72 hours for that.`,
  },
  {
    seqId: 'handbook_00000011',
    title: 'Refunds',
    body: `Support may refund up to 200 euros without asking. Larger refunds are approved by the head of finance.

Refunds go back to the card that was charged and take five to ten business days to arrive.

Annual plans are refunded pro rata within the first 60 days, and not at all after that.`,
  },
  {
    seqId: 'handbook_00000012',
    title: 'Invoices',
    body: `Invoices are sent on the first working day of the month. Payment is due within 30 days.

A customer who needs a purchase order number on the invoice enters it under Billing → Details before the end of the month.

After two reminders the account is set to read-only; nothing is deleted for another 90 days.`,
  },
  {
    seqId: 'handbook_00000013',
    title: 'Support hours',
    body: `Support answers from 07:00 to 19:00 UTC on working days. Chat closes at 17:00, email is read until 19:00.

At weekends only SEV1 incidents are handled, by the on-call engineer.

Support speaks English, German and Danish.`,
  },
  {
    seqId: 'handbook_00000014',
    title: 'Escalating a ticket',
    body: `A ticket that has had no progress for two business days is escalated to the support lead, Marta Lindqvist.

Bugs go to engineering through the triage board. Attach the request id, the time, and what the customer saw; without a request id the triage board sends the ticket back.`,
  },
  {
    seqId: 'handbook_00000015',
    title: 'New employees',
    body: `Accounts are created by IT two days before the first day. The manager orders the laptop at least two weeks ahead.

In the first week a new engineer pairs with a buddy and ships one small change. Production access is given after the security course, usually in week three.

Nobody goes on call in the first three months.`,
  },
  {
    seqId: 'handbook_00000016',
    title: 'Leaving employees',
    body: `On the last day IT disables the single sign-on account at 18:00 local time. All other access hangs on it.

The manager collects the laptop and the badge. Credentials that the person knew are rotated the same day.

Mail is forwarded to the manager for 30 days and then deleted.`,
  },
  {
    seqId: 'handbook_00000017',
    title: 'Status page',
    body: `The incident commander posts to the status page within 20 minutes of declaring a SEV1 or SEV2, and every 30 minutes after that.

Say what customers see, not what broke inside. Never name a customer or a supplier.

The page runs at a different provider, so that it stays up when we are down.`,
  },
  {
    seqId: 'handbook_00000018',
    title: 'Incident commander',
    body: `The first engineer who answers a SEV1 is incident commander until somebody relieves them by saying so in the channel.

The commander does not debug. The commander decides, assigns and keeps the log.

For incidents that last longer than four hours the engineering manager names a second commander.`,
  },
  {
    seqId: 'handbook_00000019',
    title: 'Customer data',
    body: `Customer data is stored in Frankfurt and Dublin and never leaves the European Union.

Engineers look at customer data only with a ticket number and the customer's consent. Every such access is logged and reviewed monthly.

A deletion request is carried out within 30 days; backups forget it when they expire.`,
  },
  {
    seqId: 'handbook_00000020',
    title: 'Feature flags',
    body: `New features ship behind a flag that is off. The product owner turns it on, first for staff, then for 10 % of customers.

A flag that has been on for everyone for a month is removed from the code. The oldest flags are listed in the Monday meeting.

Use \`flagctl off <name>\` as a kill switch; it takes effect within a minute.`,
  },
]

/** A question, the Neurons any of which holds its answer, and words of it; none where the handbook does not hold it. */
export type HandbookQuestion = { ask: string; says?: string; supportedBy: readonly string[] }

const by = (...numbers: number[]) => numbers.map((number) => `handbook_${String(number).padStart(8, '0')}`)

/** The answerer's constants were set with these. */
export const questions: readonly HandbookQuestion[] = [
  { ask: 'Who is paged when a VIP customer raises a ticket?', says: 'page the on-call lead', supportedBy: by(1) },
  { ask: 'May I close a VIP ticket without calling anyone?', says: 'never closed without a call', supportedBy: by(1) },
  { ask: 'What is the first response time for a SEV2?', says: '1 hour', supportedBy: by(2) },
  { ask: 'Which severity is a defect that has a workaround?', says: 'SEV3', supportedBy: by(2) },
  { ask: 'When does the on-call rotation change?', says: 'every Tuesday', supportedBy: by(3) },
  { ask: 'How much are we paid for being on call?', says: '300 euros', supportedBy: by(3) },
  { ask: 'How do I swap an on-call shift?', says: 'agreed in the #oncall channel', supportedBy: by(3) },
  { ask: 'Who writes the review after an incident?', says: 'commander writes it', supportedBy: by(4) },
  { ask: 'How long are database backups kept?', says: '35 days', supportedBy: by(5) },
  { ask: 'where are the backups of the production database stored', says: 'Frankfurt', supportedBy: by(5) },
  { ask: 'How do I restore the database?', says: 'Stop the API', supportedBy: by(6) },
  { ask: 'How long does a full restore take?', says: '90 minutes', supportedBy: by(6) },
  { ask: 'Can I deploy on a Friday?', says: 'no deployments on Fridays', supportedBy: by(7) },
  { ask: 'How much traffic does the canary get?', says: '5 % of the traffic', supportedBy: by(7) },
  { ask: 'What is the command to roll back a service?', says: 'shipctl rollback', supportedBy: by(8) },
  { ask: 'Does a rollback undo migrations?', says: 'does not undo', supportedBy: by(8) },
  { ask: 'How do I rotate the signing key?', says: 'vaultctl promote', supportedBy: by(9) },
  { ask: 'How often are third-party API keys rotated?', says: 'every 90 days', supportedBy: by(9) },
  { ask: 'I found a leaked secret. Whom do I report it to?', says: 'security@example.com', supportedBy: by(10) },
  { ask: 'Who approves large refunds?', says: 'head of finance', supportedBy: by(11) },
  { ask: 'How many days until a refund arrives on the card?', says: 'five to ten business days', supportedBy: by(11) },
  { ask: 'When is payment of an invoice due?', says: 'within 30 days', supportedBy: by(12) },
  { ask: 'Which languages does support speak?', says: 'English, German and Danish', supportedBy: by(13) },
  { ask: 'Who is the support lead?', says: 'Marta Lindqvist', supportedBy: by(14) },
  { ask: 'When do new engineers get production access?', says: 'after the security course', supportedBy: by(15) },
  { ask: 'What happens to the mail of an employee who leaves?', says: 'forwarded to the manager', supportedBy: by(16) },
  { ask: 'How often must the status page be updated during a SEV1?', says: 'every 30 minutes', supportedBy: by(17) },
  { ask: 'How do I switch off a feature with its flag?', says: 'flagctl off', supportedBy: by(20) },

  { ask: 'How many vacation days do I get?', supportedBy: [] },
  { ask: 'What is the wifi password of the Berlin office?', supportedBy: [] },
  { ask: 'Who is the head of marketing?', supportedBy: [] },
  { ask: 'How much does the enterprise plan cost?', supportedBy: [] },
  { ask: 'Can customers pay their invoice with bitcoin?', supportedBy: [] },
  { ask: 'How do I configure the Kubernetes ingress controller?', supportedBy: [] },
  { ask: 'Which antivirus software runs on the laptop?', supportedBy: [] },
  { ask: 'What is the parental leave policy for new employees?', supportedBy: [] },
  { ask: 'How do I restore a deleted dashboard?', supportedBy: [] },
  { ask: 'Does the status page support webhooks?', supportedBy: [] },
  { ask: 'Who won the football match last night?', supportedBy: [] },
  { ask: 'What colour is the logo of the company?', supportedBy: [] },
]

/** Asked afterwards, in other words than the handbook's wherever a person would: what can be hoped for elsewhere. */
export const laterQuestions: readonly HandbookQuestion[] = [
  { ask: 'Which customers count as VIP?', says: 'contract says so', supportedBy: by(1) },
  { ask: 'Who can change the severity of an incident?', says: 'may change it', supportedBy: by(2) },
  { ask: 'How quickly do we have to respond to a SEV1?', says: '15 minutes', supportedBy: by(2) },
  { ask: 'Do I get time off after a bad night on call?', says: 'a day off', supportedBy: by(3) },
  {
    ask: 'What happens if the on-call engineer does not acknowledge a page?',
    says: 'secondary who takes over',
    supportedBy: by(3),
  },
  { ask: 'When must the post-incident review be finished?', says: 'within five working days', supportedBy: by(4) },
  { ask: 'How often do we practise restoring?', says: 'once a quarter', supportedBy: by(5) },
  { ask: 'Who may decide on a database restore?', says: 'incident commander has said so', supportedBy: by(6) },
  { ask: 'At what error rate does the canary stop?', says: 'below 0.5 %', supportedBy: by(7) },
  { ask: 'Is approval needed for a rollback?', says: 'needs no approval', supportedBy: by(8) },
  { ask: 'What should I do if I pasted a key into chat?', says: 'counts as leaked', supportedBy: by(9) },
  { ask: 'How long do we have to tell customers about a data breach?', says: '72 hours', supportedBy: by(10) },
  { ask: 'Can an annual plan be refunded after three months?', says: 'not at all after that', supportedBy: by(11) },
  { ask: 'What happens when a customer does not pay after two reminders?', says: 'read-only', supportedBy: by(12) },
  { ask: 'Is support open at the weekend?', says: 'only SEV1 incidents are handled', supportedBy: by(13) },
  { ask: 'What do I attach to a bug for the triage board?', says: 'request id', supportedBy: by(14) },
  { ask: 'When can a new hire go on call?', says: 'first three months', supportedBy: by(15) },
  { ask: 'Who collects the laptop when someone leaves?', says: 'manager collects the laptop', supportedBy: by(16) },
  {
    ask: 'May we mention a supplier on the status page?',
    says: 'Never name a customer or a supplier',
    supportedBy: by(17),
  },
  { ask: 'Who is the incident commander?', says: 'first engineer who answers', supportedBy: by(18) },
  { ask: 'In which cities is customer data stored?', says: 'Frankfurt and Dublin', supportedBy: by(19) },
  { ask: 'When is a feature flag removed from the code?', says: 'for a month', supportedBy: by(20) },
  { ask: 'What is the uptime guarantee for enterprise customers?', supportedBy: [] },
  { ask: 'Which monitoring tool do we use?', supportedBy: [] },
  { ask: 'How do I request a new laptop stand?', supportedBy: [] },
  { ask: 'Who is the chief executive?', supportedBy: [] },
  { ask: 'How long is the probation period for employees?', supportedBy: [] },
  { ask: 'Can I work remotely from Spain?', supportedBy: [] },
  { ask: 'What is the retention period of chat messages?', supportedBy: [] },
  { ask: 'How do I reset my single sign-on password?', supportedBy: [] },
  { ask: 'Which database version runs in production?', supportedBy: [] },
  { ask: 'What does the product cost per seat?', supportedBy: [] },
  { ask: 'Who approves business trips?', supportedBy: [] },
  { ask: 'When was the company founded?', supportedBy: [] },
]
