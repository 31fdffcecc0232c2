import type { Extractor } from '../extracted.ts'
import type { ExtractLimits } from './limits.ts'

/** How a family of formats is read, and what its process needs beyond reading its input and the program's own files. */
export type Family = {
  load: () => Promise<Extractor>
  /** Native code. */
  addons?: true
  /** A folder to write in. */
  scratch?: true
  /** An endpoint that transcribes. */
  network?: true
  /** What it may take beyond what documents may. */
  limits?: Partial<ExtractLimits>
}

const pdf: Family = { load: async () => (await import('./pdf.ts')).extractPdf, addons: true, scratch: true }
const image: Family = { load: async () => (await import('./image.ts')).extractImage, addons: true, scratch: true }
const audio: Family = {
  load: async () => (await import('./audio.ts')).extractAudio,
  network: true,
  limits: { wallTime: 30 * 60_000 },
}
const html: Family = { load: async () => (await import('./html.ts')).extractHtml }

/** By file type: an extension in lower case, without dot. */
export const families: ReadonlyMap<string, Family> = new Map<string, Family>([
  ['pdf', pdf],
  ['docx', { load: async () => (await import('./docx.ts')).extractDocx }],
  ['pptx', { load: async () => (await import('./pptx.ts')).extractPptx }],
  ['xlsx', { load: async () => (await import('./xlsx.ts')).extractXlsx }],
  ['html', html],
  ['htm', html],
  ['csv', { load: async () => (await import('./csv.ts')).extractCsv }],
  ['md', { load: async () => (await import('./markdown.ts')).extractMarkdown }],
  ['txt', { load: async () => (await import('./plain-text.ts')).extractPlainText }],
  ['svg', { load: async () => (await import('./svg.ts')).extractSvg }],
  ...['png', 'jpg', 'jpeg', 'webp', 'gif'].map((type): [string, Family] => [type, image]),
  ...['wav', 'mp3', 'm4a', 'ogg', 'flac', 'aac'].map((type): [string, Family] => [type, audio]),
])

/** Formats that nothing here reads, and the one to save them as instead. */
export const successors: ReadonlyMap<string, string> = new Map([
  ['doc', 'docx'],
  ['ppt', 'pptx'],
  ['xls', 'xlsx'],
])
