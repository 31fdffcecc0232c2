import {
  type Command,
  EditorState,
  EditorView,
  type Extension,
  goToNextChunk,
  goToPreviousChunk,
  keymap,
  looks,
  MergeView,
  markdownText,
  searchKeymap,
  unifiedMergeView,
} from './codemirror.ts'
import { make, pushButton } from './dom.ts'

/** Minimum width in pixels for two texts side by side. */
const narrow = 700
const diffConfig = { scanLimit: 2000, timeout: 500 }

const onlyRead = (label: string): Extension => [
  looks,
  markdownText,
  EditorState.readOnly.of(true),
  EditorView.editable.of(false),
  EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': label }),
  keymap.of(searchKeymap),
]

/** Shows the whole texts of a diff, with unchanged parts folded, in place of the server's lines. */
export function showTextDiffs(): void {
  for (const place of document.querySelectorAll<HTMLElement>('[data-text-diff]')) {
    const { before, after } = JSON.parse(place.querySelector('script')?.textContent ?? '{}')
    const isBeside = place.dataset.textDiff === 'split' && place.clientWidth > narrow
    delete place.dataset.textDiff
    const shown = make('div', { class: 'text-diff' })
    let view: EditorView | undefined
    const show = (isFolded: boolean) => {
      const config = { diffConfig, ...(isFolded && { collapseUnchanged: { margin: 3, minSize: 4 } }) }
      view = isBeside ? besideEachOther(before, after, config) : belowEachOther(before, after, config)
      shown.replaceChildren(view.dom.closest('.cm-mergeView') ?? view.dom)
    }
    const go = (command: Command) => () => {
      if (view) command(view)
      view?.focus()
    }
    const showAll = pushButton('Show all lines', () => {
      showAll.hidden = true
      show(false)
      view?.focus()
    })
    const previous = pushButton('Previous change', go(goToPreviousChunk), changeKey('p'))
    const next = pushButton('Next change', go(goToNextChunk), changeKey('n'))
    const bar = make('div', { class: 'row' }, previous, next, showAll)
    show(true)
    place.replaceChildren(bar, shown)
  }
}

function belowEachOther(before: string, after: string, config: object): EditorView {
  const diff = unifiedMergeView({ original: before, mergeControls: false, ...config })
  return new EditorView({ doc: after, extensions: [onlyRead('Changes'), diff] })
}

function besideEachOther(before: string, after: string, config: object): EditorView {
  const a = { doc: before, extensions: onlyRead('Before') }
  return new MergeView({ a, b: { doc: after, extensions: onlyRead('After') }, ...config }).b
}

function changeKey(key: string) {
  return { 'data-change': key, 'aria-keyshortcuts': key }
}

showTextDiffs()
