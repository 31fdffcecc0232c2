/** CodeMirror for the islands. This module is bundled with its packages: the pages that need it load it once. */
import { markdown, markdownLanguage } from '@codemirror/lang-markdown'
import { syntaxHighlighting } from '@codemirror/language'
import { type Extension, StateField } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, WidgetType } from '@codemirror/view'
import { classHighlighter } from '@lezer/highlight'
import { make } from './dom.ts'

// biome-ignore lint/performance/noBarrelFile: the bundler leaves out what is not used
export {
  acceptCompletion,
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  startCompletion,
} from '@codemirror/autocomplete'
export { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
export { type Diagnostic, lintKeymap, setDiagnostics } from '@codemirror/lint'
export { goToNextChunk, goToPreviousChunk, MergeView, unifiedMergeView } from '@codemirror/merge'
export { searchKeymap } from '@codemirror/search'
export { EditorSelection, EditorState, type Extension } from '@codemirror/state'
export { type Command, EditorView, keymap } from '@codemirror/view'
export { chosen, ownHeadings, queryAt } from './completion.ts'
export { alignedTables } from './table.ts'

/** Each line has the direction of its first letter, as in a text area with `dir="auto"`. */
const ownDirection = Decoration.line({ attributes: { dir: 'auto' } })

/** Widget in place of the bytes of a picture. */
class PictureBytes extends WidgetType {
  readonly #length: number
  constructor(length: number) {
    super()
    this.#length = length
  }
  override eq(other: PictureBytes): boolean {
    return other.#length === this.#length
  }
  toDOM(): HTMLElement {
    return make('em', {}, `picture, ${Math.ceil((this.#length * 3) / 4096)} KB`)
  }
}

/** A state field, not a view plugin: plugins see only the visible part of long lines, and all pictures must be folded. */
const foldedPictures = StateField.define<DecorationSet>({
  create: ({ doc }) => picturesIn(doc.toString()),
  update: (found, { docChanged, newDoc }) => (docChanged ? picturesIn(newDoc.toString()) : found),
  provide: (field) => [
    EditorView.decorations.from(field),
    EditorView.atomicRanges.of((view) => view.state.field(field)),
  ],
})

function picturesIn(text: string): DecorationSet {
  const found = [...text.matchAll(/data:image\/\w+;base64,[\w+/=]{40,}/g)].map(({ 0: data, index }) =>
    Decoration.replace({ widget: new PictureBytes(data.length) }).range(index, index + data.length),
  )
  return Decoration.set(found)
}

/** Theme of all editors. Its styles need the nonce of the page. */
export const looks: Extension = [
  EditorView.cspNonce.of(document.querySelector<HTMLElement>('link[nonce]')?.nonce ?? ''),
  EditorView.darkTheme.of(matchMedia('(prefers-color-scheme: dark)').matches),
  EditorView.lineWrapping,
  foldedPictures,
  EditorView.perLineTextDirection.of(true),
  EditorView.decorations.of(({ state, viewport }) => {
    const found = []
    for (let line = state.doc.lineAt(viewport.from); ; line = state.doc.line(line.number + 1)) {
      found.push(ownDirection.range(line.from))
      if (line.to >= viewport.to) return Decoration.set(found)
    }
  }),
]

export const markdownText: Extension = [
  markdown({ base: markdownLanguage, completeHTMLTags: false }),
  syntaxHighlighting(classHighlighter),
]
