import { hash } from 'node:crypto'
import { withoutComments } from '../../markdown/comments.ts'
import { linkKey } from '../../rules/links/link-target.ts'
import { cutText } from '../../rules/text/whole-characters.ts'
import type { OnProgress } from '../extracted.ts'
import { type CompileInput, compileDocument, type DocumentPlan, planDocument } from './compile-document.ts'
import type { CompiledPage } from './compiled.ts'
import { NameTrie } from './links/name-trie.ts'
import { type ShownText, supportedClaims, supportedEdges, supportedTags, supportedTitle } from './model/model-check.ts'
import type { ModelClient } from './model/model-client.ts'
import { CompilerModelError, type Draft, type DraftPage, type ModelGap } from './model/model-draft.ts'
import { beginningsOf, numbered, piecesOf, type ShownLine } from './model/model-lines.ts'
import { outlineRequest, pageRequest } from './model/model-prompt.ts'
import { languageOf, sourceStopWords, sourceWords } from './words.ts'

type Notices = { whole: string; partly: string; reasons: Readonly<Record<ModelGap, string>> }

const english: Notices = {
  whole: 'Compiled without the language model',
  partly: 'Compiled in part without the language model',
  reasons: {
    unreachable: 'it could not be reached.',
    slow: 'it did not answer in time.',
    paused: 'it failed a moment ago and is not asked for now.',
    error: 'it answered with an error.',
    refused: 'it refused to answer.',
    invalid: 'its answer did not have the form that was asked for.',
    unsupported: 'the document does not say what it wrote.',
    'too-long': 'the document is too long for it.',
  },
}

const german: Notices = {
  whole: 'Ohne das Sprachmodell erstellt',
  partly: 'Zum Teil ohne das Sprachmodell erstellt',
  reasons: {
    unreachable: 'Es war nicht erreichbar.',
    slow: 'Es hat nicht rechtzeitig geantwortet.',
    paused: 'Es ist gerade ausgefallen und wird vorerst nicht gefragt.',
    error: 'Es hat mit einem Fehler geantwortet.',
    refused: 'Es hat die Antwort verweigert.',
    invalid: 'Seine Antwort hatte nicht die verlangte Form.',
    unsupported: 'Das Dokument sagt nicht, was es geschrieben hat.',
    'too-long': 'Das Dokument ist zu lang für das Modell.',
  },
}

/** Store of the drafts that models made of documents. */
export interface Drafts {
  /** Finds a draft. @param key hexadecimal digits */
  find(key: string): Promise<Draft | undefined>
  keep(key: string, draft: Draft): Promise<void>
}

export type ModelCompilerOptions = {
  client: ModelClient
  drafts: Drafts
  /** Called for every failure of the model: an operator must notice a wrong key. */
  failed: (error: CompilerModelError) => void
}

export type ModelCompileInput = CompileInput & {
  /** Titles of Neurons that may be sent to the model. */
  titles: readonly string[]
  /** Owner of the drafts. A draft depends on the titles sent before it, so drafts are not shared between owners. */
  scope: string
}

type Context = {
  /** Aborts when the result is no longer needed. */
  signal: AbortSignal
  /** Called with the number of completed requests, and of all. */
  onProgress: OnProgress
}

/** Version of prompts and checks. Raise it whenever they change: earlier results are then ignored. */
const version = 1
/** Minimum characters of a document that is summarised by the model. */
const shortest = 1500
const maxConcepts = 8
/** Maximum pieces of a document that are sent to a model. */
const maxPieces = 40
const leastStatements = 2
const maxTitles = 100
const maxTitlesSize = 4000
/** Maximum characters of a document in which its language and titles are detected. */
const maxSample = 200_000

/**
 * Compiles documents with a language model. The model first reports the subject of a document and the pages that it should become, then
 * writes each page. Statements that the document does not support are dropped. Results are kept, so that the same bytes give the same
 * pages. If the model fails, the pages are those of `compileDocument`, and the summary and a warning say so.
 */
export class ModelCompiler {
  readonly #options: ModelCompilerOptions

  constructor(options: ModelCompilerOptions) {
    this.#options = options
  }

  async compile(
    { titles, scope, ...input }: ModelCompileInput,
    context: Context,
  ): Promise<{ pages: CompiledPage[]; warnings: string[] }> {
    const { drafts, client, failed } = this.#options
    const { extracted, filename, language } = input
    if (extracted.markdown.trim().length < shortest) return { pages: await compileDocument(input), warnings: [] }
    const { title = null } = extracted
    const markdown = withoutComments(extracted.markdown)
    const made = [version, client.model, scope, language, filename, title, markdown]
    const key = hash('sha256', JSON.stringify(made))
    try {
      let draft = await drafts.find(key)
      if (draft === undefined) {
        draft = await new Drafting(input, titles, client, context).run()
        await drafts.keep(key, draft)
      }
      const notice = draft.gap === undefined ? '' : modelNotice(draft.gap, 'partly', language)
      const compiled = await compileDocument(input, { draft, notice })
      const pages = compiled.map((page) => ({ ...page, model: client.model }))
      return { pages, warnings: draft.gap === undefined ? [] : [modelWarning(draft.gap, 'partly')] }
    } catch (error) {
      if (!(error instanceof CompilerModelError)) throw error
      failed(error)
      const pages = await compileDocument(input, { notice: modelNotice(error.gap, 'whole', language) })
      return { pages, warnings: [modelWarning(error.gap, 'whole')] }
    }
  }
}

class Drafting {
  readonly #plan: DocumentPlan
  readonly #client: ModelClient
  readonly #context: Context
  readonly #language: string
  readonly #titles: readonly string[]
  #gap: ModelGap | undefined

  constructor(input: CompileInput, titles: readonly string[], client: ModelClient, context: Context) {
    this.#plan = planDocument(input)
    this.#client = client
    this.#context = context
    const sample = input.extracted.markdown.slice(0, maxSample)
    this.#language = languageOf(sourceWords(sample, input.language), input.language)
    this.#titles = titlesToShow(titles, sample, this.#language)
  }

  /** Writes the draft. @throws {CompilerModelError} if no page would contain anything from the model */
  async run(): Promise<Draft> {
    const { preamble, parts } = this.#plan
    const shown = this.#shown(beginningsOf(preamble, parts))
    const { signal } = this.#context
    const outline = await this.#client.ask(outlineRequest(this.#request(shown)), signal)
    const concepts = this.#concepts(outline.concepts)
    const pages = await this.#pages(concepts)
    const gist = supportedClaims(outline.gist.slice(0, 5), shown).statements.map(({ text }) => text)
    if (gist.length < leastStatements) this.#gap ??= 'unsupported'
    if (parts.length > 0 ? pages.length === 0 : gist.length < leastStatements) {
      throw new CompilerModelError(
        this.#gap ?? 'unsupported',
        'The document supports too little of what the language model wrote.',
      )
    }
    const title = supportedTitle(outline.title, shown)
    const own = new Set(pages.map((page) => linkKey(page.title)))
    return {
      ...(title === '' ? {} : { title }),
      gist: gist.length < leastStatements ? [] : gist,
      tags: supportedTags(outline.tags, shown),
      edges: supportedEdges(outline.edges, shown, (target) => own.has(linkKey(target))),
      pages,
      ...(this.#gap === undefined ? {} : { gap: this.#gap }),
    }
  }

  /** Keeps only parts that exist. */
  #concepts(concepts: readonly { title: string; parts: readonly number[] }[]): { title: string; parts: number[] }[] {
    const { parts } = this.#plan
    return concepts.slice(0, maxConcepts).flatMap(({ title, parts: numbers }) => {
      const own = [...new Set(numbers.map((number) => number - 1))].filter((index) => parts[index] !== undefined)
      return own.length === 0 ? [] : [{ title: cutText(title, 200), parts: own.sort((a, b) => a - b) }]
    })
  }

  async #pages(concepts: readonly { title: string; parts: number[] }[]): Promise<DraftPage[]> {
    const { onProgress } = this.#context
    const cut = concepts.map((concept) => ({ ...concept, pieces: piecesOf(this.#plan.parts, concept.parts) }))
    const wanted = cut.reduce((sum, { pieces }) => sum + pieces.length, 0)
    const total = Math.min(wanted, maxPieces) + 1
    if (wanted > maxPieces) this.#gap = 'too-long'
    let done = 1
    onProgress(done, total)
    const own = new Set(concepts.map(({ title }) => linkKey(title)))
    const pages: DraftPage[] = []
    for (const { title, pieces, parts } of cut) {
      const page: DraftPage = { title, parts: [], statements: [], tags: [], edges: [] }
      for (const piece of pieces) {
        if (done === total) break
        await this.#write(page, piece, own)
        onProgress(++done, total)
      }
      if (page.statements.length < leastStatements) this.#gap ??= 'unsupported'
      else pages.push({ ...page, title: this.#titleOf(title, parts), parts: page.parts.sort((a, b) => a - b) })
    }
    return pages
  }

  async #write(page: DraftPage, piece: readonly ShownLine[], own: ReadonlySet<string>): Promise<void> {
    const shown = this.#shown(piece)
    try {
      const request = pageRequest(page.title, this.#request(shown))
      const { statements, tags, edges } = await this.#client.ask(request, this.#context.signal)
      const supported = supportedClaims(statements, shown)
      page.statements.push(...supported.statements)
      // A part without statements would be lost: it keeps its own page.
      page.parts = [...new Set([...page.parts, ...supported.parts])]
      if (page.tags.length === 0) page.tags = supportedTags(tags, shown)
      page.edges.push(...supportedEdges(edges, shown, (target) => own.has(linkKey(target))))
    } catch (error) {
      if (!(error instanceof CompilerModelError) || (error.gap !== 'invalid' && error.gap !== 'refused')) throw error
      this.#gap = error.gap
    }
  }

  /** Returns the title, or that of the first of its parts if the document does not have the title's words. */
  #titleOf(title: string, parts: readonly number[]): string {
    const { parts: all } = this.#plan
    const [first = 0] = parts
    const lines = piecesOf(all, parts).flat()
    return supportedTitle(title, this.#shown(lines)) || (all[first]?.title ?? this.#plan.title)
  }

  #shown(lines: readonly ShownLine[]): ShownText {
    return { lines, parts: this.#plan.parts, title: this.#plan.title, language: this.#language }
  }

  #request({ lines, parts, language }: ShownText) {
    return { text: numbered(lines, parts), titles: this.#titles, language }
  }
}

/** Returns the titles that the document mentions, then others, as many as fit. */
function titlesToShow(titles: readonly string[], text: string, language: string): string[] {
  const names = new NameTrie(
    titles.map((title) => ({ name: title, title })),
    sourceStopWords(language),
  )
  const mentioned = text.split('\n').flatMap((line) => names.mentionsIn(line).map(({ title }) => title))
  let size = 0
  return [...new Set([...mentioned, ...titles])].slice(0, maxTitles).filter((title) => {
    size += title.length
    return size <= maxTitlesSize
  })
}

/**
 * Returns the sentence of a summary on the model, on one line, in the language (BCP 47) of the knowledge base, or in English if
 * there is no translation.
 */
function modelNotice(gap: ModelGap, extent: 'whole' | 'partly', language: string): string {
  return sentence(/^de(?:-|$)/i.test(language) ? german : english, gap, extent)
}

/** Returns the warning on the Source, in English, like all texts of the API. */
function modelWarning(gap: ModelGap, extent: 'whole' | 'partly'): string {
  return sentence(english, gap, extent)
}

function sentence(words: Notices, gap: ModelGap, extent: 'whole' | 'partly'): string {
  return `${words[extent]}: ${words.reasons[gap]}`
}
