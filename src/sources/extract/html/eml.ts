import { readFile } from 'node:fs/promises'
import PostalMime, { type Address, type Email } from 'postal-mime'
import { decodeEncodedWords } from '../../encoded-words.ts'
import { ExtractionError, type Extractor } from '../../extracted.ts'
import { asInlineMarkdown, escapeText } from '../markdown/escape-markdown.ts'
import { parseHtml } from './hast.ts'
import { visibleWords } from './html-reader.ts'
import { documentMarkdown } from './html-to-markdown.ts'

const maxBytes = 50 * 2 ** 20
const maxNames = 50
const maxAddresses = 100
/** Maximum depth of nested parts (RFC 2046, 5.1), and bytes of a header: more than any program writes. */
const bounds = { maxNestingDepth: 30, maxHeadersSize: 2 ** 20 }
const header =
  /^(?:from|to|subject|date|received|return-path|message-id|mime-version|content-type|x-[\w-]+|delivered-to|dkim-signature)\s*:/im

/** Extracts a message (RFC 5322): sender, recipients and date, its text, and the names of its attachments. */
export const extractEml: Extractor = async ({ file }) => {
  const bytes = await readFile(file)
  if (bytes.length > maxBytes)
    throw new ExtractionError('too-large', `The message is larger than ${maxBytes / 2 ** 20} MB.`)
  if (!header.test(bytes.toString('latin1', 0, 64 * 1024).split(/\r?\n\r?\n/)[0] ?? '')) {
    throw new ExtractionError('wrong-type', 'The file is no message: it does not begin with the header of one.')
  }
  const message = await parse(bytes)
  const names = message.attachments.map(({ filename, mimeType }) => decodeEncodedWords(filename ?? mimeType))
  const subject = decodeEncodedWords(rawSubject(message) ?? message.subject ?? '')
  const facts = [
    ['From', addresses(message.from === undefined ? [] : [message.from])],
    ['To', addresses(message.to)],
    ['Cc', addresses(message.cc)],
    ['Date', message.date ?? ''],
    ['Subject', subject],
    ['Attachments', [...names.slice(0, maxNames), ...(names.length > maxNames ? ['…'] : [])].join(', ')],
  ].filter(([, value]) => value !== '')
  const head = facts.map(([name, value]) => `- ${name}: ${asInlineMarkdown(value ?? '')}`).join('\n')
  const { markdown, shown } = textOf(message)
  return {
    title: subject === '' ? undefined : subject,
    markdown: `${head}\n\n${markdown}`,
    anchors: [],
    warnings: names.length > 0 ? [`Attached files were left out: upload them by themselves.`] : [],
    shown,
  }
}

/** Returns the subject as it is encoded: the parser decodes each encoded word by itself. */
function rawSubject({ headers }: Email): string | undefined {
  const raw = headers.find(({ key }) => key === 'subject')?.value.replace(/\r?\n[ \t]*/g, ' ')
  return raw?.includes('=?') ? raw : undefined
}

async function parse(bytes: Buffer): Promise<Email> {
  try {
    return await PostalMime.parse(bytes, { ...bounds, attachmentEncoding: 'arraybuffer' })
  } catch (cause) {
    throw new ExtractionError('corrupt', 'The message is damaged, or its parts are nested too deeply.', { cause })
  }
}

function addresses(list: readonly Address[] | undefined): string {
  const names = (list ?? [])
    .flatMap((each) => (each.group === undefined ? [each] : each.group))
    .map(({ name: encoded, address }) => ({ name: decodeEncodedWords(encoded ?? ''), address }))
    .map(({ name, address }) => (name && address ? `${name} (${address})` : name || address || ''))
    .filter((name) => name !== '')
  return [...names.slice(0, maxAddresses), ...(names.length > maxAddresses ? ['…'] : [])].join(', ')
}

/** Returns the text of a mail as Markdown. Prefers HTML, which most programs show, and which has links and tables. */
function textOf({ html = '', text = '' }: Email): { markdown: string; shown: string } {
  const tree = parseHtml(html)
  const shown = visibleWords(tree)
  const markdown = documentMarkdown(tree)
  if (markdown !== '') return { markdown, shown }
  return { markdown: text.split(/\r?\n/).map(escapeText).join('\n'), shown: text }
}
