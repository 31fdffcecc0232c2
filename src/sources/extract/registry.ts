import type { Extractor } from '../extracted.ts'
import type { ExtractLimits } from './extract-limits.ts'

/** Reader of a family of formats, and what its process needs beyond its input and the program's own files. */
export type Family = {
  load: () => Promise<Extractor>
  /** True if native code is needed. */
  addons?: true
  /** True if a folder for temporary files is needed. */
  scratch?: true
  /** True if an endpoint that transcribes speech is needed. */
  network?: true
  /** Limits that replace those of documents. */
  limits?: Partial<ExtractLimits>
  /** Key of another family, which reads a document if this one crashes on it. */
  second?: string
}

const pdf: Family = {
  load: async () => (await import('./pdf.ts')).extractPdf,
  addons: true,
  scratch: true,
  second: 'pdf-plain',
}
const image: Family = { load: async () => (await import('./image/image.ts')).extractImage, addons: true, scratch: true }
const audio: Family = {
  load: async () => (await import('./audio/audio.ts')).extractAudio,
  network: true,
  limits: { wallTime: 30 * 60_000 },
}
const docx: Family = { load: async () => (await import('./office/docx/docx.ts')).extractDocx }
const pptx: Family = { load: async () => (await import('./office/pptx/pptx.ts')).extractPptx }
const xlsx: Family = { load: async () => (await import('./office/xlsx/xlsx.ts')).extractXlsx }
const csv: Family = { load: async () => (await import('./text/csv.ts')).extractCsv }
const html: Family = { load: async () => (await import('./html/html-reader.ts')).extractHtml }

/** Keyed by file type: an extension in lower case, without dot. */
export const families: ReadonlyMap<string, Family> = new Map<string, Family>([
  ['pdf', pdf],
  ['pdf-plain', { load: async () => (await import('./pdf/pdf-plain.ts')).extractPlainPdf }],
  ...['docx', 'docm'].map((type): [string, Family] => [type, docx]),
  ...['pptx', 'pptm'].map((type): [string, Family] => [type, pptx]),
  ...['xlsx', 'xlsm'].map((type): [string, Family] => [type, xlsx]),
  ['eml', { load: async () => (await import('./html/eml.ts')).extractEml }],
  ['html', html],
  ['htm', html],
  ['csv', csv],
  ['tsv', csv],
  ['md', { load: async () => (await import('./text/markdown.ts')).extractMarkdown }],
  ['txt', { load: async () => (await import('./plain-text-file.ts')).extractPlainText }],
  ['svg', { load: async () => (await import('./image/svg.ts')).extractSvg }],
  ...['png', 'jpg', 'jpeg', 'webp', 'gif'].map((type): [string, Family] => [type, image]),
  ...['wav', 'mp3', 'm4a', 'ogg', 'flac', 'aac', 'mp4'].map((type): [string, Family] => [type, audio]),
])

/** Formats that are not supported, and the format to save them as instead. */
export const successors: ReadonlyMap<string, string> = new Map([
  ['doc', 'docx'],
  ['ppt', 'pptx'],
  ['xls', 'xlsx'],
  ['odt', 'docx'],
  ['ods', 'xlsx'],
  ['odp', 'pptx'],
  ['rtf', 'docx'],
])
