import { describe, expect, test } from 'vitest'
import extractPassages from '../../src/chat/extract/extract-passages.ts'
import { passage, question } from './support/passages.ts'
import { traps, unseenTraps } from './traps.ts'

function quotationsFor(message: string, content: string) {
  return extractPassages(question({ message, passages: [passage({ seqId: 'kb_00000001', title: 'Page', content })] }))
}

describe('the extract does not say the opposite', () => {
  test.each([...traps, ...unseenTraps].map((trap) => [trap.ask, trap] as const))(
    '%s',
    (ask, { page, says, refused }) => {
      const { isAnswer, pieces } = quotationsFor(ask, page)
      if (says === undefined) expect(isAnswer).toBe(false)
      else if (refused !== true) expect(pieces.join('')).toContain(says)
    },
  )

  test('of traps that are answered, no more than ten are refused', () => {
    const answered = [...traps, ...unseenTraps].filter(({ says, refused }) => says !== undefined && refused !== true)
    expect(answered.filter(({ ask, page }) => !quotationsFor(ask, page).isAnswer).length).toBeLessThanOrEqual(10)
  })
})

/** Sentences that have the words of a question, and others that deny or limit them, elsewhere on the page. */
const pairs: readonly [ask: string, asserts: string, limits: string][] = [
  [
    'Is the SOAP API still supported?',
    'The SOAP API is supported by the old gateway.',
    'The SOAP API is no longer supported since version 6.',
  ],
  [
    'Does the starter plan include audit logs?',
    'Audit logs are included in the business plan and keep each act; the starter plan has them in view.',
    'The starter plan does not include audit logs.',
  ],
  [
    'Can tenants change their subdomain?',
    'Tenants can change their subdomain in the settings.',
    'Tenants can change their subdomain only once.',
  ],
  [
    'May guests invite other guests?',
    'Guests may invite other guests with a link.',
    'Guests may not invite other guests unless an owner allows it.',
  ],
  [
    'Are weekend shifts paid twice?',
    'Weekend shifts are paid twice.',
    'Weekend shifts are paid twice except for trainees.',
  ],
  [
    'Is the beta channel safe for production?',
    'The beta channel is safe to try beside production.',
    'The beta channel is not safe for production.',
  ],
  [
    'Can I export all invoices at once?',
    'All invoices can be exported at once as a file.',
    'Invoices can never be exported all at once from the mobile app.',
  ],
  [
    'Does the scanner read QR codes?',
    'The scanner reads QR codes and bar codes.',
    'The scanner does not read QR codes in the dark.',
  ],
  [
    'Is a passport required for the visit?',
    'A passport is required for the visit.',
    'A passport is not required for the visit of employees.',
  ],
  [
    'Can the backup be restored on another host?',
    'The backup can be restored on another host.',
    'The backup can be restored on another host only with the same key.',
  ],
  [
    'Are drones allowed on the campus?',
    'Drones are allowed on the campus for films.',
    'Drones are forbidden on the campus after dark.',
  ],
  [
    'Do contractors get a laptop?',
    'Contractors get a laptop and a badge.',
    'Contractors get no laptop of the company without a contract of a year.',
  ],
  [
    'Does the trial need a credit card?',
    'The trial needs a credit card to begin.',
    'The trial needs no credit card in schools.',
  ],
  [
    'Is the cache encrypted?',
    'The cache is encrypted with the key of the host.',
    'The cache is not encrypted in memory.',
  ],
  [
    'Can two editors change one page?',
    'Two editors can change one page.',
    'Two editors cannot change one page in the old editor.',
  ],
  [
    'May I install plugins on my own?',
    'You may install plugins on your own.',
    'You may install plugins on your own only in the test system.',
  ],
  ['Is the report public?', 'The report is public after the meeting.', 'The report is public except for its annex.'],
  [
    'Does the gateway retry failed requests?',
    'The gateway retries failed requests three times.',
    'The gateway does not retry failed requests with a body.',
  ],
  [
    'Are refunds given for used vouchers?',
    'Refunds are given for vouchers, also used ones, by support.',
    'Refunds for used vouchers are excluded.',
  ],
  [
    'Is the legacy login available?',
    'The legacy login is available at the old address.',
    'The legacy login is unavailable from May on.',
  ],
  [
    'Can a locked account be deleted?',
    'A locked account can be deleted by its owner.',
    'A locked account cannot be deleted until it is unlocked.',
  ],
  [
    'Does the free tier allow custom domains?',
    'The free tier allows custom domains with a sign.',
    'The free tier does not allow custom domains of other countries.',
  ],
  [
    'Is overtime on holidays permitted?',
    'Overtime on holidays is permitted in the warehouse.',
    'Overtime on holidays is prohibited for minors.',
  ],
  [
    'May students keep the tablet?',
    'Students may keep the tablet in summer.',
    'Students must not keep the tablet after the last year.',
  ],
  [
    'Can archived projects be searched?',
    'Archived projects can be searched by name.',
    'Archived projects are hidden and cannot be searched by readers.',
  ],
  [
    'Is the parser available for Windows?',
    'The parser is available for Windows and Linux.',
    'The parser is available for Windows only as a preview.',
  ],
  [
    'Does the agent work behind a proxy?',
    'The agent works behind a proxy.',
    'The agent does not work behind a proxy with a password.',
  ],
  [
    'Are attachments scanned for viruses?',
    'Attachments are scanned for viruses at night.',
    'Attachments are not scanned for viruses above 50 MB.',
  ],
  [
    'Can moderators edit messages?',
    'Moderators can edit messages of their board.',
    'Moderators can never edit messages of administrators.',
  ],
  [
    'Is the discount valid online?',
    'The discount is valid online and in the shop.',
    'The discount is valid online unless the item is on sale.',
  ],
  ['Do visitors need an escort?', 'Visitors need an escort in the plant.', 'Visitors need no escort in the lobby.'],
  [
    'Does the license cover test servers?',
    'The license covers test servers and production.',
    'The license does not cover test servers of partners.',
  ],
  [
    'Is the date field optional?',
    'The date field is optional in drafts.',
    'The date field is not optional in invoices.',
  ],
  [
    'Can keys be shared between teams?',
    'Keys can be shared between teams.',
    'Keys must not be shared between teams of different tenants.',
  ],
  [
    'Is remote work possible from abroad?',
    'Remote work from abroad is possible in summer.',
    'Remote work from abroad is impossible without a permit.',
  ],
  [
    'Are comments deleted with the page?',
    'Comments are deleted with the page.',
    'Comments are not deleted with the page if they were flagged.',
  ],
  [
    'Does the alarm ring at night?',
    'The alarm rings at night and by day.',
    'The alarm never rings at night in the east wing.',
  ],
  [
    'May suppliers see the prices?',
    'Suppliers may see the prices of their items.',
    'Suppliers may not see the prices of other suppliers.',
  ],
  [
    'Can the index be rebuilt while readers search?',
    'The index can be rebuilt while readers search.',
    'The index can be rebuilt while readers search, except on small hosts.',
  ],
  [
    'Is the old exporter deprecated?',
    'The old exporter writes one file a day for the archive.',
    'The old exporter is deprecated since March.',
  ],
]
const filler =
  'A sentence that has nothing to do with what was asked, here or in any other place, now or later. '.repeat(8)

describe.each(['after', 'before'])('where what limits a sentence stands far %s it', (side) => {
  test.each(pairs)('%s', (ask, asserts, limits) => {
    const parts = [asserts, filler, '## More', limits]
    const page = side === 'after' ? parts : [limits, filler, '## More', asserts]
    const [first = '', ...others] = quotationsFor(ask, page.join('\n\n')).pieces
    expect(first.includes(limits) || others.join('').includes(limits)).toBe(true)
  })
})
