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

/** Pixels below which two texts do not fit beside each other. */
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

/** Shows the whole texts of a diff, with what is the same folded, in place of the server's lines. */
export function showTextDiffs(): void {
  for (const place of document.querySelectorAll<HTMLElement>('[data-text-diff]')) {
    const { before, after } = JSON.parse(place.querySelector('script')?.textContent ?? '{}')
    const isBeside = place.dataset.textDiff === 'split' && place.clientWidth > narrow
    delete place.dataset.textDiff
    const shown = document.createElement('div')
    shown.className = 'text-diff'
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
    const bar = document.createElement('div')
    bar.className = 'row'
    bar.append(
      buttonFor('Previous change', 'p', go(goToPreviousChunk)),
      buttonFor('Next change', 'n', go(goToNextChunk)),
      buttonFor('Show all lines', undefined, ({ currentTarget }) => {
        if (currentTarget instanceof HTMLElement) currentTarget.hidden = true
        show(false)
        view?.focus()
      }),
    )
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

function buttonFor(label: string, key: string | undefined, act: (event: MouseEvent) => void): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'second'
  button.textContent = label
  if (key !== undefined) {
    button.dataset.change = key
    button.setAttribute('aria-keyshortcuts', key)
  }
  button.addEventListener('click', act)
  return button
}

showTextDiffs()
