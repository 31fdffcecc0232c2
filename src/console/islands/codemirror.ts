/** CodeMirror for the islands. This module is bundled with its packages: the pages that need it load it once. */
import { markdown, markdownLanguage } from '@codemirror/lang-markdown'
import { syntaxHighlighting } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import {
  Decoration,
  type DecorationSet,
  EditorView,
  MatchDecorator,
  ViewPlugin,
  type ViewUpdate,
  WidgetType,
} from '@codemirror/view'
import { classHighlighter } from '@lezer/highlight'

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

/** Each line has the direction of its first letter, as in a text area with `dir="auto"`. */
const ownDirection = Decoration.line({ attributes: { dir: 'auto' } })

/** Stands for the bytes of a picture. */
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
    const text = document.createElement('em')
    text.textContent = `picture, ${Math.ceil((this.#length * 3) / 4096)} KB`
    return text
  }
}

const pictureBytes = new MatchDecorator({
  regexp: /data:image\/\w+;base64,[\w+/=]{40,}/g,
  decoration: ([text]) => Decoration.replace({ widget: new PictureBytes(text.length) }),
  maxLength: 512 * 1024,
})
const foldedPictures = ViewPlugin.define<{ found: DecorationSet; update: (update: ViewUpdate) => void }>(
  (view) => ({
    found: pictureBytes.createDeco(view),
    update(update) {
      this.found = pictureBytes.updateDeco(update, this.found)
    },
  }),
  {
    decorations: ({ found }) => found,
    provide: (plugin) => EditorView.atomicRanges.of((view) => view.plugin(plugin)?.found ?? Decoration.none),
  },
)

/** How every text looks. Its styles bear the nonce of the page. */
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
