/** Where in its original a part of a document begins. */
export type Anchor = {
  /** 1-based line of the Markdown. */
  line: number
  /** 1-based. */
  page?: number
  /** 1-based. */
  slide?: number
  sheet?: string
  /** Seconds from the beginning. */
  time?: number
}

export type Extracted = {
  /** As the document calls itself. */
  title: string | undefined
  /** GitHub Flavored Markdown with ATX headings; no HTML, no front matter, links of http, https and mailto only. */
  markdown: string
  /** 1-based line of the Markdown from which on it is searched, but becomes no page: the rows of large tables. */
  searchOnlyFrom?: number
  /** In the order of their lines. */
  anchors: Anchor[]
  /** What was lost, for people. */
  warnings: string[]
  /** Why the text may not be what the document shows, for people, e.g. a guessed encoding. A curator then decides on its pages. */
  doubts?: string[]
  /** Tags and audience that the document gives itself. */
  tags?: string[]
  audience?: string[]
  /** The part of the text that was recognised in pictures; absent if there is none. */
  recognised?: Recognised
}

/** How much text was recognised, and how surely. */
export type Recognised = {
  /** At least 1. */
  words: number
  /** Mean of the recogniser's confidence in each word, 0 to 1. */
  confidence: number
  /** What was asked for; English where it is absent. */
  languages?: string[]
}

export type ExtractInput = {
  file: string
  /** As it was uploaded. */
  filename: string
  /** Extension without dot, in lower case. */
  fileType: string
  /** What turns speech into text; without it, sound has none. */
  transcriber: Transcriber | undefined
  /** Of print in pictures, as Tesseract calls them; English where there are none. */
  ocrLanguages?: readonly string[] | undefined
}

/** An endpoint compatible with OpenAI's `/v1/audio/transcriptions`. */
export type Transcriber = { url: string; model: string; apiKey: string | undefined }

export type ExtractionProblem =
  | 'encrypted'
  | 'corrupt'
  | 'wrong-type'
  | 'too-large'
  | 'too-slow'
  | 'starved'
  | 'unsupported'
  | 'empty'
  | 'not-configured'
  | 'crashed'

/** Why a document has no text; the message is for people. Only what crashed, or got no processor, is worth another attempt. */
export class ExtractionError extends Error {
  readonly problem: ExtractionProblem

  constructor(problem: ExtractionProblem, message: string, options?: ErrorOptions) {
    super(message, options)
    this.problem = problem
  }
}

/** Is told how much of some work is done, and how much there is. */
export type OnProgress = (done: number, total: number) => void

/** A text, and the words by which it is checked. */
export type Extraction = Extracted & {
  /**
   * Text that the file shows, taken from the file itself before any step that may drop text. Words of it that the Markdown lacks are
   * reported. Undefined if the format has no such text.
   */
  shown: string | undefined
}

export type Extractor = (input: ExtractInput, onProgress: OnProgress) => Promise<Extraction>
