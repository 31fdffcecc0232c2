/** Place in the original at which a part of a document begins. */
export type Anchor = {
  /** Line of the Markdown, from 1. */
  line: number
  /** Page number, from 1. */
  page?: number
  /** Slide number, from 1. */
  slide?: number
  sheet?: string
  /** Seconds from the beginning. */
  time?: number
}

export type Extracted = {
  /** Title that the document itself declares. */
  title: string | undefined
  /** GitHub Flavored Markdown with ATX headings; no HTML, no front matter, links of http, https and mailto only. */
  markdown: string
  /** Line of the Markdown, from 1, from which the text is searched but becomes no page: the rows of large tables. */
  searchOnlyFrom?: number
  /** Places at which the parts of the document begin, sorted by line. */
  anchors: Anchor[]
  /** Sentences for people that report what was lost. */
  warnings: string[]
  /**
   * Reasons, for people, to suspect that the text differs from what the document shows, such as a guessed encoding. A curator then
   * decides on its pages.
   */
  doubts?: string[]
  /** Tags and audience that the document gives itself. */
  tags?: string[]
  audience?: string[]
  /** The part of the text that was recognised in pictures; absent if there is none. */
  recognised?: Recognised
}

/** Amount and confidence of recognised text. */
export type Recognised = {
  /** Number of words, at least 1. */
  words: number
  /** Mean of the recogniser's confidence in each word, 0 to 1. */
  confidence: number
  /** Languages that were requested; absent for English. */
  languages?: string[]
}

export type ExtractInput = {
  file: string
  /** Name under which the file was uploaded. */
  filename: string
  /** Extension without dot, in lower case. */
  fileType: string
  /** Endpoint that turns speech into text. Without it, recordings have no text. */
  transcriber: Transcriber | undefined
  /** Languages of print in pictures, by Tesseract's names; English by default. */
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

/** Thrown if a document has no text; the message is for people. Only `crashed` and `starved` are worth another attempt. */
export class ExtractionError extends Error {
  readonly problem: ExtractionProblem

  constructor(problem: ExtractionProblem, message: string, options?: ErrorOptions) {
    super(message, options)
    this.problem = problem
  }
}

/** Callback with the amount of finished work, and the total. */
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
