import { describe, expect, test } from 'vitest'
import type { Answer } from '../../src/chat/answerer.ts'
import { extractAnswerer } from '../../src/chat/extract/extract-answerer.ts'
import { refusalIn } from '../../src/chat/refused-answer.ts'
import { type HandbookQuestion, laterQuestions, questions } from './questions.ts'
import { testAnswerer } from './support/conformance.ts'
import { ask, passage, question, refunds, vip } from './support/passages.ts'
import { retrieveFromHandbook } from './support/retrieve.ts'
import { traps, unseenTraps } from './traps.ts'

async function askHandbook(message: string): Promise<Answer> {
  return (await ask(extractAnswerer, question({ message, passages: retrieveFromHandbook(message) }))).answer
}

async function answerTo(message: string, ...contents: string[]): Promise<string> {
  const passages = contents.map((content, index) =>
    passage({ seqId: `kb_0000000${index + 1}`, title: 'Page', content, rank: 1 / (index + 1) }),
  )
  return (await ask(extractAnswerer, question({ message, passages }))).answer.text
}

describe('the extract', () => {
  testAnswerer(async () => extractAnswerer)

  test('quotes the paragraph that answers, with its citation', async () => {
    const { answer } = await ask(extractAnswerer, question({ passages: [refunds, vip] }))
    expect(answer).toEqual({
      text: 'When a VIP customer raises a ticket, page the on-call lead at once. Do not wait for triage. [handbook_00000001]',
      cited: [vip.seqId],
      answeredBy: 'extract',
    })
  })

  test('is the same every time', async () => {
    expect(await askHandbook('How do I restore the database?')).toEqual(
      await askHandbook('How do I restore the database?'),
    )
  })

  test('quotes a procedure whole, with its code', async () => {
    const steps =
      'To rotate the key:\n\n1. Make one.\n2. Load it:\n\n   ```sh\n   vaultctl load <key>\n   ```\n\n3. Drop the old one.'
    expect(await answerTo('How do I rotate the key?', `Keys are secret.\n\n${steps}\n\nSee also the vault.`)).toBe(
      [
        'To rotate the key [kb_00000001]:',
        '1. Make one. [kb_00000001]\n2. Load it [kb_00000001]:',
        '```sh\nvaultctl load <key>\n```\n\n[kb_00000001]',
        '3. Drop the old one. [kb_00000001]',
      ].join('\n\n'),
    )
  })

  test('quotes a list of instructions whole, without numbers too', async () => {
    const steps = ['In the menu, choose **Gate**', 'Click on **Open**', 'Wait for the bell']
    const content = `The gate is blue.\n\nTo open the gate:\n\n${steps.map((step) => `* ${step}\n`).join('')}`
    const text = await answerTo('How do I open the gate in the menu?', content)
    for (const step of steps) expect(text).toContain(step)
  })

  test('does not take an instruction for an answer to who does something', async () => {
    const content = '- Choose the gate that you would like to open under **Gate Settings**.\n- An owner opens the gate.'
    expect(await answerTo('Who opens the gate?', content)).toBe('- An owner opens the gate. [kb_00000001]')
  })

  test('does not quote what MDX imports', async () => {
    const content = "import Backups from './run'\nimport './run.css';\nBackups run at night."
    expect(await answerTo('When do backups run?', content)).toBe('Backups run at night. [kb_00000001]')
  })

  test('finds a procedure by the heading that it stands under', async () => {
    const passages = [
      passage({
        seqId: 'kb_00000001',
        title: 'Keys',
        headings: ['Rotate the signing key'],
        content: '1. Make a new one.\n2. Load it.',
      }),
    ]
    const { answer } = await ask(extractAnswerer, question({ message: 'How do I rotate the signing key?', passages }))
    expect(answer.text).toBe('1. Make a new one. [kb_00000001]\n2. Load it. [kb_00000001]')
  })

  test('quotes one item of a list, and one row of a table with its headers', async () => {
    expect(await answerTo('Who approves refunds?', '- Sales approves discounts.\n- Finance approves refunds.')).toBe(
      '- Finance approves refunds. [kb_00000001]',
    )
    expect(
      await answerTo(
        'What is the response time for SEV2?',
        '| Level | Response time |\n|---|---|\n| SEV1 | 15 min |\n| SEV2 | 1 h |',
      ),
    ).toBe('- Level: SEV2; Response time: 1 h [kb_00000001]')
  })

  test('takes along what a pronoun stands for', async () => {
    expect(
      await answerTo('Who writes the reminder?', 'An unpaid invoice gets a reminder. It is written by finance.'),
    ).toBe('An unpaid invoice gets a reminder. It is written by finance. [kb_00000001]')
  })

  test('quotes of a long paragraph what stands around the sentence', async () => {
    const sentence = (n: number) =>
      `Sentence ${n} of many has nothing to say about what was asked, now or later, in this place or in any other.`
    const before = [1, 2, 3, 4, 5].map(sentence)
    const after = [6, 7, 8, 9, 10].map(sentence)
    const said = 'Refunds are approved by the head of finance.'
    const text = await answerTo('Who approves refunds?', [...before, said, ...after].join(' '))
    expect(text).toBe(`${[said, ...after.slice(0, 4)].join(' ')} [kb_00000001]`)
  })

  test('quotes what the last sentence of a paragraph announces', async () => {
    const content = 'Backups run at night. Start one by hand with:\n\n```sh\nbackup now\n```\n\nFeed the dog.'
    expect(await answerTo('When do backups run?', content)).toBe(
      'Backups run at night. Start one by hand with [kb_00000001]:\n\n```sh\nbackup now\n```\n\n[kb_00000001]',
    )
  })

  test('quotes a heading that alone has the date that is asked for', async () => {
    const content =
      '### Version 1.3 (2022-07-19)\n\n- Needs parser 3.4.\n\n### Version 1.2 (2021-01-05)\n\n- New icons.'
    expect(await answerTo('When was version 1.3 released?', content)).toBe(
      'Version 1.3 (2022-07-19) [kb_00000001]\n\n- Needs parser 3.4. [kb_00000001]',
    )
  })

  test.each([
    ['MkDocs', '!!! note "Mind the night"\n    Backups run at night.\n\n=== "Linux"\n\n    Feed the dog.'],
    ['Docusaurus', ':::note Mind the night\nBackups run at night.\n:::\n\nFeed the dog.'],
    ['Hugo', '{{< hint type="info" >}}\nBackups run at night.\n{{</ hint >}}\n\nFeed the dog.'],
    ['Jekyll', '{% note %}\nBackups run at night.\n{% endnote %}\n\nFeed the dog.'],
  ])('does not quote the marks of boxes and tabs of %s', async (_, content) => {
    expect(await answerTo('When do backups run?', content)).toBe('Backups run at night. [kb_00000001]')
  })

  test('quotes one row of a table without bars at the ends, whose header is in another chunk', async () => {
    const content =
      '**open** | Opens the gate at noon\n**close** | Closes the gate at night\n**paint** | Paints the gate'
    expect(await answerTo('What closes the gate at night?', content)).toBe(
      '- **close**; Closes the gate at night [kb_00000001]',
    )
  })

  test('answers a question that a heading asks with the beginning of its section', async () => {
    const content = 'That is up to the porter.\n\nChange this line:\n\n```ini\nmax_guests = 20\n```\n\n'
    const headings = ['How to change the number of guests?']
    const passages = [passage({ seqId: 'kb_00000001', title: 'Gate', headings, content })]
    const message = 'How do I change the number of guests?'
    const { answer } = await ask(extractAnswerer, question({ message, passages }))
    expect(answer.text).toContain('max_guests = 20')
  })

  test('reads the comments in code', async () => {
    const content = '```ini\n# Where the keys of the gate are stored, by default\nkeys = /var/keys\n```'
    expect(await answerTo('Where are the keys of the gate stored by default?', content)).toContain('/var/keys')
    expect(await answerTo('Where are the keys of the gate stored by default?', content.replace('#', ''))).toBe(
      refusalIn('en'),
    )
  })

  test('prefers the sentence that begins with what is asked for', async () => {
    const content = [
      '- If the requested gate code is the default (`4321`), the porter is told of the default gate code.',
      '- The default gate code is `1234`.',
    ]
    const text = await answerTo('What is the default gate code?', content.join('\n'))
    expect(text).toBe('- The default gate code is `1234`. [kb_00000001]')
  })

  test('says nothing twice', async () => {
    const text = await answerTo('When do backups run?', 'Backups run at night.', 'Backups run at night!')
    expect(text).toBe('Backups run at night. [kb_00000001]')
  })

  test('shows links by their text and keeps other Markdown', async () => {
    expect(
      await answerTo(
        'Who approves refunds?',
        'The [[finance|head of *finance*]] approves `refunds`, see [here](./x.md).',
      ),
    ).toBe('The head of *finance* approves `refunds`, see here. [kb_00000001]')
  })

  test.each([
    ['a comment', 'Backups run at night.<!-- Backups run\n\nat noon. -->', 'Backups run at night.'],
    ['an image', '![Backups run](x.png) Backups run at night. ![[backups run.png]]', 'Backups run at night.'],
    ['the name of a block', 'Backups run at night. ^backups', 'Backups run at night.'],
    [
      'a bar of links',
      '[Backups](https://a.test) | [Run](https://b.test)\n\nBackups run at night.',
      'Backups run at night.',
    ],
    ['a lead-in to nothing', 'Backups run:\n\nBackups run at night.', 'Backups run at night.'],
  ])('does not quote %s', async (_, content, quoted) => {
    expect(await answerTo('When do backups run?', content)).toBe(`${quoted} [kb_00000001]`)
  })

  test.each([
    ['**Backups run at night. They are kept.** See below.', 'Backups run at night. They are kept. See below.'],
    ['Keep calm. **Backups** run *at night*.', 'Keep calm. **Backups** run *at night*.'],
    ['_Keep calm. Backups run at night._', 'Keep calm. Backups run at night.'],
    [
      'Backups run daily at `2**3` and 2 * 3 in run_at_night.',
      'Backups run daily at `2**3` and 2 * 3 in run_at_night.',
    ],
  ])('of %s quotes whole emphasis or none', async (content, quoted) => {
    expect(await answerTo('When do backups run?', content)).toBe(`${quoted} [kb_00000001]`)
  })

  test('takes a greeting for what is asked only where it does not greet', async () => {
    const contents = ['The greeter says hello to each guest.', 'You say what you mean. They say it twice.']
    expect(await answerTo('Who says hello?', ...contents)).toBe('The greeter says hello to each guest. [kb_00000001]')
    expect(await answerTo('Hello! Thanks', ...contents)).toBe(refusalIn('en'))
    expect(await answerTo('Hi there, when do backups run, please?', 'Backups run at night.')).toBe(
      'Backups run at night. [kb_00000001]',
    )
  })

  test('finds nothing in the target of a link', async () => {
    const text = await answerTo('Who approves refunds?', 'See [here](https://approves.test/refunds) for more on that.')
    expect(text).toBe(refusalIn('en'))
  })

  test('keeps what code shows, even markup, without making it markup', async () => {
    const content = 'A line break in a table is `<br>`, a comment `%% so %%`, an embed `![[page]]`.'
    expect(await answerTo('What is a line break in a table?', content)).toBe(
      'A line break in a table is `<br>`, a comment `%% so %%`, an embed `![[page]]`. [kb_00000001]',
    )
  })

  test.each([
    [
      'escapes',
      'Backups run by \\*, \\[x\\](y) and \\*\\*z\\*\\*.',
      'Backups run by \\*, \\[x\\](y) and \\*\\*z\\*\\*.',
    ],
    ['an escaped tag', 'Backups run by \\<img src=x\\>.', 'Backups run by &lt;img src=x\\>.'],
    ['a bar in a table', '| What | How |\n|---|---|\n| Backups run | `a \\| b` |', '- What: Backups run; How: `a | b`'],
    ['code with a tag', 'Backups run by `<app>`.', 'Backups run by `<app>`.'],
    ['code that looks like a citation', 'Backups run by `[kb_00000002]`.', 'Backups run by &#91;kb_00000002].'],
    ['code in which readers may see other code', 'Backups run by \\` and `<b>`.', 'Backups run by \\` and &#60;b>.'],
    ['code in code', 'Backups run by `` `<b>` ``.', 'Backups run by  &#96;&#60;b>&#96; .'],
  ])('quotes %s so that it shows the same', async (_, content, quoted) => {
    expect(await answerTo('What do backups run by?', content)).toBe(`${quoted} [kb_00000001]`)
  })

  test('tells a way with the command that comes after it', async () => {
    const content = 'Start a backup by hand from any host.\n\n```sh\nbackup now\n```\n\nFeed the dog.'
    expect(await answerTo('How do I start a backup by hand?', content)).toContain('backup now')
  })

  test('shows the passage without citing it where it says the opposite of what is asked', async () => {
    const content = 'The gate speaks the languages English and Danish, see `gate` [kb_00000001].'
    expect(await answerTo('Which languages does the gate speak?', content)).toContain('[kb_00000001]')
    expect(await answerTo('Which languages does the gate not speak?', content)).toBe(
      `${refusalIn('en')}\n\n> **Page**\n> \n> The gate speaks the languages English and Danish, see \`gate\`.`,
    )
  })

  test('does not end a sentence within a link', async () => {
    const said = 'Backups run at night, says [the log](https://a.test/?q=1! Yes).'
    expect(await answerTo('When do backups run?', `${said} Ask Ada.`)).toBe(`${said} Ask Ada. [kb_00000001]`)
  })

  test('quotes one fact of several', async () => {
    const content = '## Page plugin\n\nPlugin ID: `page`\nDeveloped by: [[ada]]\nMobile: yes\n\nIt counts words.'
    expect(await answerTo('Who developed the page plugin?', content)).toContain('- Developed by: ada [kb_00000001]')
  })

  test('quotes a row of a table whose header is elsewhere as it is', async () => {
    expect(
      await answerTo('What is the first response to SEV2?', '| SEV1 | 15 min |\n| SEV2 first response | 1 h |'),
    ).toBe('- SEV2 first response; 1 h [kb_00000001]')
  })

  test('gives the answer to a question that the text asks itself', async () => {
    expect(await answerTo('May support refund 200 euros?', 'May support refund 200 euros? Yes, without asking.')).toBe(
      'May support refund 200 euros? Yes, without asking. [kb_00000001]',
    )
    expect(await answerTo('How do I import a vault?', 'A vault to import? One command:\n\n- `import`')).toBe(
      'A vault to import? One command [kb_00000001]:\n\n- `import` [kb_00000001]',
    )
  })

  test('refuses where a word is missing that tells', async () => {
    const content = 'Refunds are approved by the head of finance. Coffee is free. Tea is free. Lunch is not.'
    expect(await answerTo('Who approves large refunds?', content)).toBe(refusalIn('en'))
  })

  test('answers in another language only where most of the words are there', async () => {
    const answerIn = async (message: string) => {
      const content = 'Erstattungen genehmigt die Leitung der Finanzen. Kaffee ist frei. Tee ist frei. Essen nicht.'
      const passages = [passage({ seqId: 'kb_00000001', title: 'Seite', content })]
      return (await ask(extractAnswerer, question({ message, passages, language: 'de' }))).answer.text
    }
    expect(await answerIn('Wer genehmigt Erstattungen?')).toMatch(/^Erstattungen genehmigt die Leitung der Finanzen\./)
    expect(await answerIn('Wer genehmigt späte Erstattungen?')).toBe(refusalIn('de'))
  })

  test.each(['Hello!', 'ok, thank you very much', 'hi there'])('a greeting is no question: %s', async (message) => {
    expect(await answerTo(message, `${message} It is nice to meet you.`)).toBe(refusalIn('en'))
  })

  test('reads a follow-up question with the one before it', async () => {
    const passages = retrieveFromHandbook('Who approves them? refunds')
    const history = [{ question: 'How large may refunds be?', answer: 'Up to 200 euros.' }]
    const { answer } = await ask(extractAnswerer, question({ message: 'Who approves them?', history, passages }))
    expect(answer.text).toContain('approved by the head of finance')
  })

  test('refuses in the language of the knowledge base, and cites nothing', async () => {
    const asked = question({ message: 'Wer hat das Spiel gewonnen?', language: 'de-AT' })
    expect((await ask(extractAnswerer, asked)).answer).toEqual({
      text: 'Die Wissensdatenbank enthält darauf keine Antwort.',
      cited: [],
      answeredBy: 'extract',
    })
    expect(refusalIn('tlh')).toBe(refusalIn('en'))
    expect([refusalIn('no'), refusalIn('por')]).toEqual([refusalIn('nb'), refusalIn('pt-BR')])
    expect([refusalIn('zh-TW'), refusalIn('zh-CN')]).toEqual([refusalIn('zh-Hant'), refusalIn('zh')])
    expect(refusalIn('zh-TW')).not.toBe(refusalIn('zh'))
    const languages =
      'ar bg bn ca cs da de el es et eu fa fi fr ga he hi hr hu hy it ja ko nl pl ro ru sv ta th tr uk vi zh'
    for (const language of languages.split(' ')) expect(refusalIn(language)).not.toBe(refusalIn('en'))
  })

  test('a question of stop words alone is refused', async () => {
    expect((await ask(extractAnswerer, question({ message: 'Who is it?' }))).answer.cited).toEqual([])
  })

  test.each([
    ['sentences', 'VIP ticket customer page lead raises '.repeat(2000)],
    [
      'steps',
      Array.from({ length: 300 }, (_, n) => `${n}. VIP ticket customer page lead raises ${'x'.repeat(700)}`).join('\n'),
    ],
    [
      'code',
      `A VIP ticket that a customer raises pages the lead:\n\n\`\`\`\n${'VIP ticket customer page raises\n'.repeat(3000)}\`\`\``,
    ],
  ])('is bounded, however long the %s', async (_, content) => {
    const passages = Array.from({ length: 50 }, (_, n) => passage({ ...vip, content: `Page ${n}.\n\n${content}` }))
    const { answer } = await ask(extractAnswerer, question({ passages }))
    expect(answer.text.length).toBeLessThanOrEqual(9000)
    expect(answer.cited).toEqual([vip.seqId])
  })
})

describe('the extract keeps to what is asked', () => {
  const gate =
    'The gate opens at 7:00.\n\nThe gate was painted by Ada Byron in blue.\n\nLorries use the gate in the north.'

  test.each([
    ['Who painted the gate?', 'The gate was painted by Ada Byron in blue.'],
    ['When does the gate open?', 'The gate opens at 7:00.'],
    ['Which gate do lorries use?', 'Lorries use the gate in the north.'],
  ])('%s', async (message, said) => {
    expect(await answerTo(message, gate)).toBe(`${said} [kb_00000001]`)
  })

  test.each([
    ['a name that is not there', 'When does the Brandenburg gate open?'],
    ['a person who is not named', 'Who opens the gate?'],
    ['a length of time that is not given', 'How long is the gate open?'],
    ['a number that is not given', 'How many gates are there?'],
    ['a thing that is not there', 'Which ferry do lorries use?'],
    ['a version that is another', 'When was gate 0.7 opened?'],
  ])('and refuses %s', async (_, message) => {
    expect(await answerTo(message, gate)).toBe(refusalIn('en'))
  })

  test('takes words that mean the same', async () => {
    expect(await answerTo('How do I turn on the siren?', 'Enable the siren with `siren 1`.\n\nFeed the dog.')).toBe(
      'Enable the siren with `siren 1`. [kb_00000001]',
    )
    expect(
      await answerTo('How do I get rid of the siren?', 'Uninstall the siren with `rm siren`.\n\nFeed the dog.'),
    ).toBe('Uninstall the siren with `rm siren`. [kb_00000001]')
  })

  test('takes what the knowledge base calls a word otherwise for the word', async () => {
    const passages = [
      passage({ seqId: 'kb_00000001', title: 'Page', content: 'Enter through GlobalProtect at night.' }),
    ]
    const asked = { message: 'How do I enter through the VPN?', passages }
    expect((await ask(extractAnswerer, question(asked))).answer.cited).toEqual([])
    for (const group of [
      ['vpn', 'GlobalProtect'],
      ['GlobalProtect', 'VPN', 'virtual private network'],
    ]) {
      const { answer } = await ask(extractAnswerer, question({ ...asked, synonyms: [group] }))
      expect(answer.cited).toEqual(['kb_00000001'])
    }
  })

  test('prefers what says the verb with its preposition', async () => {
    const contents = [
      'The native language of Gate is JSON, but it is written by hand.',
      'Gate is a server written in Go.',
    ]
    expect(await answerTo('Is Gate written in Go?', ...contents)).toMatch(/^Gate is a server written in Go/)
  })

  test('does not take a question that the text asks itself for one of another kind', async () => {
    const content = '## Who gets the student discount?\n\nStudents of a school do.'
    expect(await answerTo('How large is the student discount?', content)).toBe(refusalIn('en'))
    expect(await answerTo('Who gets a student discount?', content)).toContain('Students of a school')
  })

  test('says what a thing is, not what is done with it', async () => {
    const content = 'Keep the badge dry.\n\nA badge is a card that opens doors.\n\nTo get a badge, ask the porter.'
    expect(await answerTo('What is a badge?', content)).toBe('A badge is a card that opens doors. [kb_00000001]')
    expect(
      await answerTo('What is a badge?', 'badge\n: A card that opens doors.\n\ndoor\n: What a badge opens.'),
    ).toMatch(/^- badge: A card that opens doors\. \[kb_00000001\]/)
  })

  test('answers with what stands under a heading that asks the same', async () => {
    const content = '## Why is the gate blue?\n\nAda liked it.\n\n## Why is the roof red?\n\nNobody knows.'
    expect(await answerTo('Why is the gate blue?', content)).toBe('Ada liked it. [kb_00000001]')
  })

  test('answers with what follows a question in bold, and with what that announces', async () => {
    const content = '**May I bring my dog?**\nYes, but:\n\n- on a lead\n- not on Mondays\n\nCats stay at home.'
    expect(await answerTo('Can I bring a dog?', content)).toBe(
      '**May I bring my dog?** Yes, but [kb_00000001]:\n\n- on a lead [kb_00000001]\n- not on Mondays [kb_00000001]',
    )
  })

  test('knows where little sections of one passage stand', async () => {
    const content = '### Sound the siren\n\n1. Press red.\n2. Wait.\n\n### Open the gate\n\n1. Press green.\n2. Push.'
    expect(await answerTo('How do I open the gate?', content)).toBe(
      '1. Press green. [kb_00000001]\n2. Push. [kb_00000001]',
    )
  })

  test('reads a table without bars at its edges', async () => {
    const content = 'Gate | Height\n--- | ---\nnorth | 4 m\nsouth | 3 m'
    expect(await answerTo('What is the height of the north gate?', content)).toBe(
      '- Gate: north; Height: 4 m [kb_00000001]',
    )
  })

  test('shows a command with the sentence before it', async () => {
    const content = 'To open the gate, turn the wheel first. For example:\n\n```sh\nwheel --turn\n```\n\nFeed the dog.'
    expect(await answerTo('How do I open the gate?', content)).toBe(
      'To open the gate, turn the wheel first. For example [kb_00000001]:\n\n```sh\nwheel --turn\n```\n\n[kb_00000001]',
    )
  })

  test('takes words that every object of JavaScript knows for words', async () => {
    const said = 'Call the constructor of `Gate` with `new`.'
    expect(await answerTo('How do I call the constructor?', `${said}\n\nFeed the dog.`)).toBe(`${said} [kb_00000001]`)
  })

  test('takes signs for what they are', async () => {
    const content = 'Use `=` to compare two gates in a rule. A rule is long.'
    expect(await answerTo('What does := do in a rule?', content)).toBe(refusalIn('en'))
  })
})

/** The parts of the questions that were answered and refused rightly. */
async function measure(asked: readonly HandbookQuestion[]): Promise<{ cited: number; said: number; refused: number }> {
  const answers = await Promise.all(asked.map(async (one) => ({ ...one, answer: await askHandbook(one.ask) })))
  const supported = answers.filter(({ supportedBy }) => supportedBy.length > 0)
  const unsupported = answers.filter(({ supportedBy }) => supportedBy.length === 0)
  const part = (some: unknown[], all: unknown[]) => some.length / all.length
  return {
    cited: part(
      supported.filter(({ answer, supportedBy }) => answer.cited.some((seqId) => supportedBy.includes(seqId))),
      supported,
    ),
    said: part(
      supported.filter(({ answer, says = '' }) => answer.text.includes(says)),
      supported,
    ),
    refused: part(
      unsupported.filter(({ answer }) => answer.cited.length === 0),
      unsupported,
    ),
  }
}

describe('the extract does not say the opposite', () => {
  test.each(traps.map((trap) => [trap.ask, trap] as const))('%s', async (ask, { page, says, refused = false }) => {
    const [first = ''] = (await answerTo(ask, page)).split('\n\n')
    if (says === undefined || refused) expect(first).toBe(refusalIn('en'))
    else expect(first).toContain(says)
  })

  test('of those that nobody looked at, few', async () => {
    const answers = await Promise.all(
      unseenTraps.map(async (trap) => ({ ...trap, text: await answerTo(trap.ask, trap.page) })),
    )
    const wrong = answers.filter(({ text, says }) => {
      const [first = ''] = text.split('\n\n')
      return first !== refusalIn('en') && (says === undefined || !first.includes(says))
    })
    expect(wrong.length).toBeLessThanOrEqual(2)
  })
})

describe('over the handbook', () => {
  test('cites the right Neuron, says what was asked, and refuses what is not there', async () => {
    const { cited, said, refused } = await measure(questions)
    expect(cited).toBeGreaterThanOrEqual(0.85)
    expect(said).toBeGreaterThanOrEqual(0.85)
    expect(refused).toBeGreaterThanOrEqual(0.9)
  })

  test('says little that is wrong to questions that its constants were not set with, and rather nothing', async () => {
    const { cited, said, refused } = await measure(laterQuestions)
    expect(cited).toBeGreaterThanOrEqual(0.4)
    expect(said).toBeGreaterThanOrEqual(0.4)
    expect(refused).toBe(1)
  })
})
