import { describe, expect, test } from 'vitest'
import type { Answer } from '../../src/chat/answerer.ts'
import { refusalIn } from '../../src/chat/refused-answer.ts'
import { type HandbookQuestion, laterQuestions, questions } from './questions.ts'
import { testAnswerer } from './support/conformance.ts'
import { extractAnswerer } from './support/extract-answerer.ts'
import { ask, passage, question, refunds, vip } from './support/passages.ts'
import { retrieveFromHandbook } from './support/retrieve.ts'

async function askHandbook(message: string): Promise<Answer> {
  return (await ask(extractAnswerer, question({ message, passages: retrieveFromHandbook(message) }))).answer
}

async function answerTo(message: string, ...contents: string[]): Promise<string> {
  const passages = contents.map((content, index) =>
    passage({ seqId: `kb_0000000${index + 1}`, title: 'Page', content, rank: 1 / (index + 1) }),
  )
  return (await ask(extractAnswerer, question({ message, passages }))).answer.text
}

/** A quotation of the first page. */
function quoted(text: string, ...headings: string[]): string {
  return `**${['Page', ...headings].join(' › ')}**\n\n${text}${/(?:```|\|)$/.test(text) ? '\n\n' : ' '}[kb_00000001]`
}

/** A refusal with the nearest passage. */
function refused(text: string): string {
  return `${refusalIn('en')}\n\n${`**Page**\n\n${text}`.replace(/^/gm, '> ')}`
}

const filler =
  'Sentence of many that has nothing to say about what was asked, now or later, in this place or in any other.'

describe('the extract', () => {
  testAnswerer(async () => extractAnswerer)

  test('quotes the passage that answers, with its heading and citation', async () => {
    const { answer } = await ask(extractAnswerer, question({ passages: [refunds, vip] }))
    expect(answer).toEqual({
      text: `**VIP customers**\n\n${vip.content} [${vip.seqId}]`,
      cited: [vip.seqId],
      answeredBy: 'extract',
    })
  })

  test('is the same every time', async () => {
    const message = 'How do I restore the database?'
    expect(await askHandbook(message)).toEqual(await askHandbook(message))
  })

  test('quotes a procedure whole, with its code', async () => {
    const steps =
      'To rotate the key:\n\n1. Make one.\n2. Load it:\n\n   ```sh\n   vaultctl load <key>\n   ```\n\n3. Drop the old one.'
    const text = await answerTo('How do I rotate the key?', `Keys are secret.\n\n${steps}\n\nSee also the vault.`)
    expect(text).toContain(steps)
  })

  test('closes code that its page leaves open, and leaves the code as it is', async () => {
    const open = 'Search for numbats with this command:\n\n```sh\ngrep "\\<numbat\\>" zoo'
    const text = await answerTo('How do I search for numbats?', open)
    expect(text).toBe(quoted(`${open}\n\`\`\``))
  })

  test('keeps code spans beside fenced code', async () => {
    const content = 'The bilby element is `<bilby-card>`, and this makes one:\n\n```js\nmake(bilby)\n```'
    expect(await answerTo('What is the bilby element?', content)).toBe(quoted(content))
  })

  test('quotes a heading as it stands above, with those of the passage', async () => {
    const content = 'Keys are secret.\n\n### Rotate the signing key\n\n1. Make a new one.\n2. Load it.'
    expect(await answerTo('How do I rotate the signing key?', content)).toBe(
      quoted('1. Make a new one.\n2. Load it.', 'Rotate the signing key'),
    )
  })

  test('quotes a row of a long table with its head, and an item of a long list with its lead', async () => {
    const rows = Array.from({ length: 40 }, (_, n) => `| SEV${n} | ${n} hours of waiting for the team |`)
    const table = `| Level | Response |\n|---|---|\n${rows.join('\n')}`
    const ofTable = await answerTo('What is the response to SEV32?', table)
    expect(ofTable).toMatch(/^\*\*Page\*\*\n\n\| Level \| Response \|\n\|---\|---\|\n\| SEV/)
    expect(ofTable).toContain('| SEV32 | 32 hours')
    const items = Array.from({ length: 30 }, (_, n) => `- Team ${n} approves what team ${n} has asked for.`)
    const ofList = await answerTo(
      'Who approves refunds?',
      `Approvals:\n\n${items.join('\n')}\n- Finance approves refunds.`,
    )
    expect(ofList).toMatch(/^\*\*Page\*\*\n\nApprovals:\n\n- /)
    expect(ofList).toContain('- Finance approves refunds. [kb_00000001]')
  })

  test('quotes of a long paragraph what stands around the sentence', async () => {
    const said = 'Refunds are approved by the head of finance.'
    const text = await answerTo(
      'Who approves refunds?',
      [...Array(5).fill(filler), said, ...Array(5).fill(filler)].join(' '),
    )
    expect(text.startsWith(quoted([said, ...Array(5).fill(filler)].join(' ')))).toBe(true)
    expect(text.length).toBeLessThan(2000)
  })

  test('quotes a heading that alone has the date that is asked for', async () => {
    const content =
      '### Version 1.3 (2022-07-19)\n\n- Needs parser 3.4.\n\n### Version 1.2 (2021-01-05)\n\n- New icons.'
    const text = await answerTo('When was version 1.3 released?', content)
    expect(text).toContain('**Page › Version 1.3 (2022-07-19)**\n> \n> - Needs parser 3.4.')
  })

  test.each([
    ['MkDocs', '!!! note "Mind the night"\nBackups run at night.'],
    ['Docusaurus', ':::note Mind the night\nBackups run at night.\n:::'],
    ['Hugo', '{{< hint type="info" >}}\nBackups run at night.\n{{</ hint >}}'],
    ['Jekyll', '{% note %}\nBackups run at night.\n{% endnote %}'],
    ['MDX', "import Backups from './run'\nimport './run.css';\nBackups run at night."],
    ['quotes', '> [!note]\n> Backups run at night.'],
    ['a comment', 'Backups run at night.<!-- Backups run\n\nat noon. -->'],
    ['an image', '![Backups run](x.png) Backups run at night. ![[backups run.png]]'],
    ['the name of a block', 'Backups run at night. ^backups'],
  ])('does not quote the marks of %s', async (_, content) => {
    expect((await answerTo('When do backups run?', content)).replace(/\n\n+| {2,}/g, ' ')).toBe(
      quoted('Backups run at night.').replace('\n\n', ' '),
    )
  })

  test('reads the comments in code', async () => {
    const content = '```ini\n# Where the keys of the gate are stored, by default\nkeys = /var/keys\n```'
    const message = 'Where are the keys of the gate stored by default?'
    expect(await answerTo(message, content)).toBe(quoted(content))
    expect(await answerTo(message, content.replace('# ', ''))).toContain(refusalIn('en'))
  })

  test('says nothing twice', async () => {
    const text = await answerTo('When do backups run?', 'Backups run at night.', 'Backups run at night.')
    expect(text).toBe(quoted('Backups run at night.'))
  })

  test('shows links by their text and keeps other Markdown', async () => {
    const content =
      'The [[finance|head of *finance*]] approves `refunds`, see [here](./x.md) and [there](https://a.test).'
    expect(await answerTo('Who approves refunds?', content)).toBe(
      quoted('The head of *finance* approves `refunds`, see here and [there](https://a.test).'),
    )
  })

  test('takes a greeting for what is asked only where it does not greet', async () => {
    const contents = ['Backups run at night.', 'You say what you mean. They say it twice.']
    expect(await answerTo('Hello! Thanks', ...contents)).toBe(refusalIn('en'))
    expect(await answerTo('Hi there, when do backups run, please?', contents[0] ?? '')).toBe(
      quoted('Backups run at night.'),
    )
  })

  test('keeps what code shows, even markup, without making it markup', async () => {
    const content = 'A line break in a table is `<br>`, a comment `%% so %%`, an embed `![[page]]`.'
    expect(await answerTo('What is a line break in a table?', content)).toBe(quoted(content))
  })

  test.each([
    [
      'escapes',
      'Backups run by \\*, \\[x\\](y) and \\*\\*z\\*\\*.',
      'Backups run by \\*, \\[x\\](y) and \\*\\*z\\*\\*.',
    ],
    ['an escaped tag', 'Backups run by \\<img src=x\\>.', 'Backups run by &lt;img src=x\\>.'],
    ['code with a tag', 'Backups run by `<app>`.', 'Backups run by `<app>`.'],
    ['code that looks like a citation', 'Backups run by `[kb_00000002]`.', 'Backups run by &#91;kb_00000002].'],
    ['a citation', 'Backups run by Ada [kb_00000002].', 'Backups run by Ada.'],
    ['code in which readers may see other code', 'Backups run by \\` and `<b>`.', 'Backups run by \\` and `…`.'],
  ])('quotes %s so that it shows the same, or less', async (_, content, text) => {
    expect(await answerTo('What do backups run by?', content)).toBe(quoted(text))
  })

  test('a title cannot pass for markup or a citation', async () => {
    const title = '[kb_00000009] **Gate** <b>'
    const passages = [passage({ seqId: 'kb_00000001', title, content: 'Backups run at night.' })]
    const { answer } = await ask(extractAnswerer, question({ message: 'When do backups run?', passages }))
    expect(answer.text).toMatch(/^\*\*\\\*\\\*Gate\\\*\\\* \\<b\\>\*\*\n\nBackups/)
  })

  test('answers in another language only where most of the words are there', async () => {
    const answerIn = async (message: string) => {
      const content = 'Erstattungen genehmigt die Leitung der Finanzen. Kaffee ist frei. Tee ist frei. Essen nicht.'
      const passages = [passage({ seqId: 'kb_00000001', title: 'Seite', content })]
      return (await ask(extractAnswerer, question({ message, passages, language: 'de' }))).answer.text
    }
    expect(await answerIn('Wer genehmigt Erstattungen?')).toMatch(/^\*\*Seite\*\*\n\nErstattungen genehmigt/)
    expect(await answerIn('Wer genehmigt späte und sehr hohe Erstattungen?')).toContain(refusalIn('de'))
  })

  test.each(['Hello!', 'ok, thank you very much', 'hi there'])('a greeting is no question: %s', async (message) => {
    expect(await answerTo(message, 'It is nice to meet you.')).toContain(refusalIn('en'))
  })

  test('reads a follow-up question with the one before it', async () => {
    const passages = retrieveFromHandbook('Who approves them? refunds')
    const history = [{ question: 'How large may refunds be?', answer: 'Up to 200 euros.' }]
    const { answer } = await ask(extractAnswerer, question({ message: 'Who approves them?', history, passages }))
    expect(answer.text).toContain('approved by the head of finance')
  })

  test('refuses in the language of the knowledge base, and cites nothing', async () => {
    const asked = question({ message: 'Wer hat das Spiel gewonnen?', passages: [], language: 'de-AT' })
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
    ['rows', Array.from({ length: 300 }, (_, n) => `| VIP ticket ${n} | customer page lead raises |`).join('\n')],
  ])('is bounded, however long the %s', async (_, content) => {
    const passages = Array.from({ length: 50 }, (_, n) => passage({ ...vip, content: `Page ${n}.\n\n${content}` }))
    const { answer } = await ask(extractAnswerer, question({ passages }))
    expect(answer.text.length).toBeLessThanOrEqual(9000)
    expect(answer.cited).toEqual([vip.seqId])
  })
})

describe('a refusal', () => {
  test('shows the nearest passage, cites nothing and names the page that it rests on', async () => {
    const content = 'The gate speaks the languages English and Danish, see `gate` [kb_00000001].'
    const passages = [passage({ seqId: 'kb_00000001', title: 'Page', content })]
    const message = 'Which languages does the gate not speak?'
    expect((await ask(extractAnswerer, question({ message, passages }))).answer).toEqual({
      text: refused('The gate speaks the languages English and Danish, see `gate`.'),
      cited: [],
      shown: ['kb_00000001'],
      answeredBy: 'extract',
    })
    expect(await answerTo('Which languages does the gate speak?', content)).toContain('[kb_00000001]')
  })

  const gate =
    'The gate opens at 7:00.\n\nThe gate was painted by Ada Byron in blue.\n\nLorries use the gate in the north.'

  test.each(['Who painted the gate?', 'When does the gate open?', 'Which gate do lorries use?'])(
    'is no answer where the words are there: %s',
    async (message) => {
      expect(await answerTo(message, gate)).toBe(quoted(gate))
    },
  )

  test.each([
    ['a name that is not there', 'When does the Brandenburg gate open?'],
    ['a length of time that is not given', 'How long is the gate painted?'],
    ['a number that is not given', 'How many gates are there in the south?'],
    ['a thing that is not there', 'Which ferry do lorries use?'],
    ['words of which most are missing', 'Who approves large refunds at the gate?'],
  ])('meets %s', async (_, message) => {
    expect(await answerTo(message, gate)).toBe(refused(gate))
  })
})

describe('a message of two questions', () => {
  const page = 'The gate opens at 7:00.\n\n## Paint\n\nThe gate was painted by Ada Byron.'

  test.each(['When does the gate open? Who painted the gate?', 'When does the gate open and who painted the gate?'])(
    'is answered part by part: %s',
    async (message) => {
      const passages = [passage({ seqId: 'kb_00000001', title: 'Page', content: page })]
      const { answer } = await ask(extractAnswerer, question({ message, passages }))
      expect(answer.text).toContain('The gate opens at 7:00.')
      expect(answer.text).toContain('The gate was painted by Ada Byron.')
      expect(answer.isPartial).toBeUndefined()
    },
  )

  test('says which part it refuses', async () => {
    const passages = [passage({ seqId: 'kb_00000001', title: 'Page', content: page })]
    const message = 'When does the gate open and how much does a new ferry cost?'
    const { answer } = await ask(extractAnswerer, question({ message, passages }))
    expect(answer).toMatchObject({ cited: ['kb_00000001'], isPartial: true })
    expect(answer.text).toContain(`**how much does a new ferry cost?** ${refusalIn('en')}`)
  })
})

test('takes what the knowledge base calls a word otherwise for the word', async () => {
  const passages = [passage({ seqId: 'kb_00000001', title: 'Page', content: 'Enter through GlobalProtect at night.' })]
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

test('takes words that every object of JavaScript knows for words', async () => {
  const content = 'Call the constructor of `Gate` with `new`.'
  expect(await answerTo('How do I call the constructor?', content)).toBe(quoted(content))
})

/** The parts of the questions that were answered and refused rightly. */
async function measure(asked: readonly HandbookQuestion[]): Promise<{ cited: number; shown: number; refused: number }> {
  const answers = await Promise.all(asked.map(async (one) => ({ ...one, answer: await askHandbook(one.ask) })))
  const supported = answers.filter(({ supportedBy }) => supportedBy.length > 0)
  const unsupported = answers.filter(({ supportedBy }) => supportedBy.length === 0)
  const part = (some: unknown[], all: unknown[]) => some.length / all.length
  return {
    cited: part(
      supported.filter(({ answer, supportedBy }) => answer.cited.some((seqId) => supportedBy.includes(seqId))),
      supported,
    ),
    shown: part(
      supported.filter(({ answer, says = '' }) => answer.text.includes(says)),
      supported,
    ),
    refused: part(
      unsupported.filter(({ answer }) => answer.cited.length === 0),
      unsupported,
    ),
  }
}

describe('over the handbook', () => {
  test('cites the right Neuron, shows what was asked, and refuses what is not there', async () => {
    const { cited, shown, refused } = await measure(questions)
    expect(cited).toBeGreaterThanOrEqual(0.85)
    expect(shown).toBeGreaterThanOrEqual(0.95)
    expect(refused).toBeGreaterThanOrEqual(0.9)
  })

  test('shows what was asked in words that its constants were not set with, and cites it rather than not', async () => {
    const { cited, shown, refused } = await measure(laterQuestions)
    expect(cited).toBeGreaterThanOrEqual(0.4)
    expect(shown).toBeGreaterThanOrEqual(0.95)
    expect(refused).toBe(1)
  })
})
