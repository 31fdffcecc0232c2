/**
 * Questions on short pages where the sentence with most of a question's words says the opposite of the answer, or nothing on it. The
 * first paragraph of the answer says what is here; without that, it must be refused.
 */
export type Trap = {
  ask: string
  page: string
  says?: string
  /** It is refused, as the words of the question are others. */
  refused?: true
}

/** Rules and weights were chosen with these. */
export const traps: readonly Trap[] = [
  {
    ask: 'Can I use the old export endpoint?',
    page: 'The old export endpoint writes CSV files. You can use any HTTP client with it.\n\nSince version 5 the old export endpoint is deprecated and no longer answers; call `/v2/export`.',
    says: 'no longer answers',
  },
  {
    ask: 'May I bring my dog to the office?',
    page: "Bring your dog's papers to the office on the first day.\n\n- Dogs are not allowed in the office, except for assistance dogs.",
    says: 'not allowed',
  },
  {
    ask: 'Does the free plan include backups?',
    page: 'Backups run every night and include all attachments.\n\nThe team plan includes backups. The free plan does not include backups.',
    says: 'does not include',
  },
  {
    ask: 'Which plans do not include support?',
    page: '| Plan | Support |\n|---|---|\n| Team | included |\n| Free | not included |\n\nThe Team and Business plans include support by email.\n\nThe Free plan does not include support.',
    says: 'Free',
  },
  {
    ask: 'Is Python 2 still supported?',
    page: 'Python 2 is supported by the import script if the old modules are there.\n\n## Changes in 4.0\n\nPython 2 is no longer supported.',
    says: 'no longer supported',
  },
  {
    ask: 'Can guests delete messages?',
    page: 'Messages can be deleted from the menu beside them.\n\nGuests can read and write messages. Only moderators can delete messages of others, and guests cannot delete any.',
    says: 'guests cannot delete',
  },
  {
    ask: 'Are refunds possible after 60 days?',
    page: 'Refunds are possible within 60 days and take five days to arrive.\n\nAfter 60 days refunds are excluded.',
    says: 'excluded',
  },
  {
    ask: 'How do I disable telemetry?',
    page: 'To enable telemetry, run `app telemetry on`.\n\nTo disable telemetry, run `app telemetry off`.',
    says: 'telemetry off',
  },
  {
    ask: 'How do I stop the server from starting at boot?',
    page: 'To start the server at boot, run `systemctl enable gate`.',
  },
  {
    ask: 'Can I run two servers on one data directory?',
    page: 'Run the server with its data directory as an argument. Two servers can share one certificate.\n\nNever run two servers on one data directory: the second one would destroy the index.',
    says: 'Never run two servers',
  },
  {
    ask: 'When must I not restart the service?',
    page: 'Restart the service when the certificate was renewed.\n\nDo not restart the service while a migration is running.',
    says: 'while a migration',
  },
  {
    ask: 'Which browsers are not supported?',
    page: 'Firefox, Chrome and Safari are supported from their last two versions on.\n\nInternet Explorer is not supported.',
    says: 'Internet Explorer',
    refused: true,
  },
  {
    ask: 'Is overtime paid?',
    page: 'Overtime is entered in the time sheet by Friday.\n\nOvertime is not paid but given back as free time.',
    says: 'not paid',
  },
  {
    ask: 'Can I change my user name later?',
    page: 'Choose a user name when you sign up; you can change your picture later in the settings.\n\nA user name cannot be changed later.',
    says: 'cannot be changed',
  },
  {
    ask: 'Do I need a licence for test servers?',
    page: 'You need a licence for each server in production.\n\nTest servers do not need a licence.',
    says: 'do not need',
  },
  {
    ask: 'Does the mobile app work offline?',
    page: 'The desktop app works offline and syncs later.\n\nThe mobile app needs a connection and does not work offline.',
    says: 'does not work offline',
  },
  {
    ask: 'Is there a limit on file size?',
    page: 'Files are stored by their hash. The limit on the number of files is 10,000.\n\nThere is no limit on file size.',
    says: 'no limit on file size',
  },
  {
    ask: 'Can attachments be larger than 20 MB?',
    page: 'Attachments can be images, documents and sound.\n\nAttachments may be up to 20 MB; larger ones are rejected.',
    says: 'up to 20 MB',
  },
  {
    ask: 'Who may not approve an invoice?',
    page: 'Invoices are approved by the head of finance.\n\nWhoever ordered the goods may not approve the invoice.',
    says: 'Whoever ordered',
  },
  {
    ask: 'Is the wiki public?',
    page: 'The wiki is written by all teams. A public page has a green mark.\n\nThe wiki is only visible to employees.',
    says: 'only visible to employees',
  },
  {
    ask: 'Can contractors use the VPN?',
    page: 'The VPN is used from home and on the road.\n\nEmployees can use the VPN. Contractors must not use it; they get a virtual desktop.',
    says: 'must not use it',
  },
  {
    ask: 'What is not covered by the warranty?',
    page: 'The warranty covers broken screens and batteries for two years.\n\nWater damage is not covered by the warranty.',
    says: 'Water damage',
  },
  {
    ask: 'Should I commit the lock file?',
    page: 'The lock file is made by the first install.\n\nDo not commit the lock file of a library. Commit it for applications.',
    says: 'Do not commit',
  },
  {
    ask: 'Can I pay by credit card?',
    page: 'The amount is charged to the account at the end of the month. A credit card can be added to the profile as proof of identity.',
  },
  {
    ask: 'Is it safe to delete the cache folder while the app runs?',
    page: 'The cache folder holds thumbnails. It is safe to delete it, but only after the app was closed.',
    says: 'only after the app was closed',
  },
  {
    ask: 'Which files are not backed up?',
    page: 'The database and all uploads are backed up nightly.\n\nEverything below `/srv` is backed up, except for log files and thumbnails.',
    says: 'except for log files',
  },
  {
    ask: 'Does a reader see internal pages?',
    page: 'A curator sees all pages. A reader sees public pages.\n\nInternal pages are hidden from readers.',
    says: 'hidden from readers',
  },
  {
    ask: 'Can I use the `sync` command?',
    page: '`sync` copies all pages to the mirror:\n\n```sh\napp sync --all\n```\n\n> The `sync` command is deprecated. Use `app mirror` instead.',
    says: 'deprecated',
  },
  {
    ask: 'Are interns paid during holidays?',
    page: 'Interns are paid at the end of each month. Employees are paid during holidays.\n\nInterns are unpaid during holidays.',
    says: 'unpaid',
  },
  {
    ask: 'How do I undo a merge?',
    page: 'To merge two pages, choose **Merge** in the menu of the first.\n\nA merge cannot be undone.',
    says: 'cannot be undone',
    refused: true,
  },
]

/** Written together with the others, and not looked at. */
export const unseenTraps: readonly Trap[] = [
  {
    ask: 'Can I still use the XML API?',
    page: 'The XML API returns pages and their links. You can use it with a key.\n\nThe XML API was removed in version 3.',
    says: 'was removed',
  },
  {
    ask: 'May visitors park in the garage?',
    page: 'Visitors sign in at the desk and park their bicycles in the yard.\n\nThe garage is for employees only; visitors may not park there.',
    says: 'may not park',
  },
  {
    ask: 'Does the trial include phone support?',
    page: 'Phone support is open from nine to five. The Pro plan includes phone support.\n\nThe trial includes email support, but no phone support.',
    says: 'no phone support',
  },
  {
    ask: 'Which formats can not be imported?',
    page: 'Markdown, HTML and Word files can be imported.\n\nEncrypted PDF files cannot be imported.',
    says: 'Encrypted PDF',
  },
  {
    ask: 'Is Windows 7 supported?',
    page: 'Windows 7 was supported until version 2.3. All versions of Windows are supported by the viewer.\n\nWindows 7 is not supported any more.',
    says: 'not supported any more',
  },
  {
    ask: 'Can editors publish pages?',
    page: 'Pages are published with the green button. Editors can write and move pages.\n\nEditors cannot publish pages; an owner has to.',
    says: 'cannot publish',
  },
  {
    ask: 'Can I cancel after the contract has started?',
    page: 'You can cancel by email before the contract has started.\n\nOnce the contract has started, cancelling is excluded for one year.',
    says: 'excluded',
  },
  {
    ask: 'How do I turn off notifications?',
    page: 'Turn on notifications under **Settings → Alerts**.\n\nTurn off notifications under **Settings → Quiet**.',
    says: 'Quiet',
  },
  { ask: 'How do I remove a user from a group?', page: 'To add a user to a group, run `group add NAME USER`.' },
  {
    ask: 'Should I edit the generated file by hand?',
    page: 'The generated file holds all routes. Edit the template by hand.\n\nNever edit the generated file by hand.',
    says: 'Never edit',
  },
  {
    ask: 'When should I not use the cache?',
    page: 'Use the cache when pages are read often.\n\nDo not use the cache when pages differ by reader.',
    says: 'differ by reader',
  },
  {
    ask: 'Which databases are unsupported?',
    page: 'PostgreSQL and SQLite are supported.\n\nOracle is unsupported.',
    says: 'Oracle',
  },
  {
    ask: 'Is travel time working time?',
    page: 'Working time is from nine to six. Travel time is booked on the project.\n\nTravel time is not working time, except on the way to a customer.',
    says: 'not working time',
  },
  {
    ask: 'Can a deleted workspace be restored?',
    page: 'A deleted page can be restored from the bin for 30 days.\n\nA deleted workspace cannot be restored.',
    says: 'cannot be restored',
  },
  {
    ask: 'Do volunteers need a badge?',
    page: 'Employees need a badge at every door.\n\nVolunteers need no badge on open days.',
    says: 'need no badge',
  },
  {
    ask: 'Does the widget work without JavaScript?',
    page: 'The widget works in all browsers and needs no cookies. The page works without JavaScript.\n\nThe widget does not work without JavaScript.',
    says: 'does not work without',
  },
  {
    ask: 'Is there a fee for late payment?',
    page: 'Payment is due in 30 days. The fee for a new card is 10 euros.\n\nThere is no fee for late payment in the first week.',
    says: 'no fee for late payment',
  },
  {
    ask: 'Can a password be shorter than 12 characters?',
    page: 'A password can have letters, digits and signs. A user name can be shorter than five characters.\n\nA password must have at least 12 characters.',
    says: 'at least 12',
  },
  {
    ask: 'Who is not allowed to enter the lab?',
    page: 'Researchers are allowed to enter the lab at any time.\n\nChildren are not allowed to enter the lab.',
    says: 'Children',
  },
  {
    ask: 'Are salaries public?',
    page: 'Salaries are reviewed in May. The public page lists all jobs.\n\nSalaries are known only to the board.',
    says: 'only to the board',
  },
  {
    ask: 'May students borrow the cameras?',
    page: 'Cameras are borrowed at the desk for a week.\n\nTeachers may borrow the cameras. Students may not.',
    says: 'Students may not',
  },
  {
    ask: 'What does the insurance not pay?',
    page: 'The insurance pays for theft and fire.\n\nThe insurance does not pay for lost keys.',
    says: 'lost keys',
  },
  {
    ask: 'Should I open the valve first?',
    page: 'The valve is red. Close the pump, then open the valve.\n\nDo not open the valve first: the pump would run dry.',
    says: 'Do not open the valve first',
  },
  { ask: 'Can I order lunch by phone?', page: 'Lunch is served at noon. The menu can be read on the phone.' },
  {
    ask: 'Is it possible to rename a project?',
    page: 'It is possible to rename tasks, labels and boards.\n\nIt is impossible to rename a project once it has tasks.',
    says: 'impossible to rename',
  },
  {
    ask: 'Which holidays do not count?',
    page: 'Public holidays count as days off.\n\nAll holidays count, except for those on a weekend.',
    says: 'except for those on a weekend',
  },
  {
    ask: 'Can readers see drafts?',
    page: 'Drafts are kept for a year. Authors can see drafts of their team.\n\nDrafts are invisible to readers.',
    says: 'invisible to readers',
  },
  {
    ask: 'Should I use the `legacy` option?',
    page: 'Set `legacy` to `true` to read old files.\n\nThe `legacy` option is obsolete and will be removed; convert old files instead.',
    says: 'obsolete',
  },
  {
    ask: 'Are tips taxed?',
    page: 'Tips are shared by the kitchen at the end of the week. Wages are taxed.\n\nTips are untaxed.',
    says: 'untaxed',
  },
  {
    ask: 'How do I recover a purged message?',
    page: 'To purge a message, press and hold it.\n\nA purged message cannot be recovered.',
    says: 'cannot be recovered',
  },
]
