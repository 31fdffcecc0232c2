import {
  acceptCompletion,
  alignedTables,
  autocompletion,
  type Command,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  chosen,
  type Diagnostic,
  defaultKeymap,
  EditorSelection,
  EditorView,
  type Extension,
  history,
  historyKeymap,
  keymap,
  lintKeymap,
  looks,
  markdownText,
  ownHeadings,
  queryAt,
  searchKeymap,
  setDiagnostics,
  startCompletion,
} from './codemirror.ts'
import type { FieldKind, Query } from './completion.ts'
import { fieldsOf, make } from './dom.ts'

type Suggestion = { text: string; hint?: string }

/** Milliseconds until the preview is updated; more for a long text. */
const delays = { short: 700, long: 2000 }
const longText = 100_000

/** Shows an editor in place of a text area. The text area stays the field that the form sends, and that drafts and scripts use. */
function editorFor(area: HTMLTextAreaElement, form: HTMLFormElement, extensions: Extension): EditorView {
  const [label] = area.labels ?? []
  const attributes: Record<string, string> = { id: area.id, tabindex: '0' }
  if (label) attributes['aria-labelledby'] = label.id = `label-${area.name}`
  for (const name of ['aria-describedby', 'aria-invalid', 'spellcheck']) {
    const value = area.getAttribute(name)
    if (value !== null) attributes[name] = value
  }
  const view: EditorView = new EditorView({
    doc: area.value,
    extensions: [
      looks,
      EditorView.contentAttributes.of(attributes),
      history(),
      extensions,
      // Tab is not bound here: without suggestions, it leaves the editor, except in tables.
      keymap.of([{ key: 'Tab', run: acceptCompletion }, ...defaultKeymap, ...historyKeymap]),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (!docChanged || area.value === state.doc.toString()) return
        area.value = state.doc.toString()
        area.dispatchEvent(new Event('input', { bubbles: true }))
      }),
    ],
  })
  const [isFocused, start, end] = [document.activeElement === area, area.selectionStart, area.selectionEnd]
  view.dom.style.height = `${area.offsetHeight}px`
  area.removeAttribute('id')
  area.hidden = true
  area.after(view.dom)
  label?.addEventListener('click', () => view.focus())
  form.addEventListener('input', () => {
    const { doc } = view.state
    if (doc.toString() !== area.value) view.dispatch({ changes: { from: 0, to: doc.length, insert: area.value } })
  })
  if (isFocused) {
    view.dispatch({ selection: { anchor: start, head: end } })
    view.focus()
  }
  return view
}

/** Adds or removes asterisks around the selection: one for emphasis, two for strong emphasis. */
function marked(mark: '*' | '**'): Command {
  return ({ state, dispatch }) => {
    const { length } = mark
    const changes = state.changeByRange(({ from, to }) => {
      const before = /\**$/.exec(state.sliceDoc(Math.max(0, from - 3), from))?.[0].length ?? 0
      const isMarked = (length === 2 ? before >= 2 : before % 2 === 1) && state.sliceDoc(to, to + length) === mark
      const at = isMarked ? from - length : from + length
      const removed = [
        { from: from - length, to: from },
        { from: to, to: to + length },
      ]
      const added = [
        { from, insert: mark },
        { from: to, insert: mark },
      ]
      return { changes: isMarked ? removed : added, range: EditorSelection.range(at, at + to - from) }
    })
    dispatch(state.update(changes, { scrollIntoView: true, userEvent: 'input' }))
    return true
  }
}

/** Makes the selection a link: an address gets a text to type, anything else becomes the name of a page. */
const linked: Command = (view) => {
  const { state } = view
  const changes = state.changeByRange(({ from, to }) => {
    const text = state.sliceDoc(from, to)
    const isAddress = /^https?:\/\/\S+$/.test(text)
    const insert = isAddress ? `[](${text})` : `[[${text}]]`
    return { changes: { from, to, insert }, range: EditorSelection.cursor(from + (isAddress ? 1 : 2 + text.length)) }
  })
  view.dispatch(state.update(changes, { scrollIntoView: true, userEvent: 'input' }))
  return startCompletion(view) || true
}

/** Maximum bytes of a picture that is not scaled down: a page may have 512 KB. */
const maxPicture = 180 * 1024
const keptPictures = /^image\/(?:png|jpeg|gif|webp|avif)$/

/** Inserts pasted or dropped pictures at the caret. Their bytes are in the text until an approval makes them files. */
function takePictures(view: EditorView, data: DataTransfer | null): boolean {
  const files = [...(data?.files ?? [])].filter(({ type }) => type.startsWith('image/'))
  // Office programs add a picture of copied text.
  if (files.length === 0 || data?.types.includes('text/plain') === true) return false
  void Promise.all(files.map(pictureOf)).then(
    (pictures) => view.dispatch(view.state.replaceSelection(pictures.join('\n\n')), { scrollIntoView: true }),
    () => sayBeside('This picture cannot be read, or is too large. Add it with git.'),
  )
  return true
}

async function pictureOf(file: File): Promise<string> {
  let picture: Blob = file
  const isKept = () => picture.size <= maxPicture && keptPictures.test(picture.type)
  if (!isKept()) {
    const bitmap = await createImageBitmap(file)
    for (let side = 2400; !isKept() && side > 150; side *= 0.75) {
      const scale = Math.min(1, side / Math.max(bitmap.width, bitmap.height))
      const canvas = new OffscreenCanvas(Math.ceil(bitmap.width * scale), Math.ceil(bitmap.height * scale))
      canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
      picture = await canvas.convertToBlob({ type: 'image/webp', quality: 0.8 })
    }
    if (!isKept()) throw new Error('too large')
  }
  const reader = new FileReader()
  reader.readAsDataURL(picture)
  await new Promise((resolve) => reader.addEventListener('loadend', resolve))
  const name = file.name.replace(/\.\w+$/, '').replace(/[[\]\\\n]/g, ' ')
  return `![${name}](${reader.result})`
}

const ofText: Extension = [
  markdownText,
  EditorView.domEventHandlers({
    paste: (event, view) => takePictures(view, event.clipboardData),
    drop(event, view) {
      if (event.dataTransfer?.types.includes('Files') !== true) return false
      event.preventDefault()
      view.dispatch({ selection: { anchor: view.posAtCoords({ x: event.clientX, y: event.clientY }, false) } })
      return takePictures(view, event.dataTransfer)
    },
  }),
  keymap.of([
    { key: 'Mod-b', run: marked('**') },
    { key: 'Mod-i', run: marked('*') },
    { key: 'Mod-k', run: linked },
    // Keeps the browser from saving the page: forms keep drafts.
    { key: 'Mod-s', run: () => true },
    ...searchKeymap,
    ...lintKeymap,
  ]),
]

/** Shows the preview and the findings of the typed text. */
function followText(
  form: HTMLFormElement,
  { content, beside, preview }: { content: EditorView; beside: HTMLElement; preview: string },
): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let asking: AbortController | undefined
  const show = async () => {
    clearTimeout(timer)
    asking?.abort()
    asking = new AbortController()
    const { signal } = asking
    const asked = content.state.doc
    beside.setAttribute('aria-busy', 'true')
    try {
      const body = new URLSearchParams(fieldsOf(form))
      const headers = { 'HX-Request': 'true', 'HX-Current-URL': location.href, accept: 'text/html' }
      const answer = await fetch(preview, { method: 'POST', body, headers, signal })
      // Markup of this server, where every value is escaped or sanitised.
      if (answer.ok) beside.innerHTML = await answer.text()
      else if (answer.status === 401)
        sayBeside('You were signed out. What you type is kept: you can go on, and sign in when you send it.')
      if (content.state.doc === asked) content.dispatch(setDiagnostics(content.state, findingsIn(beside, content)))
    } catch {
      if (!signal.aborted) sayBeside('There is no connection. What you type is kept in this browser.')
    } finally {
      if (!signal.aborted) beside.removeAttribute('aria-busy')
    }
  }
  form.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(show, content.state.doc.length > longText ? delays.long : delays.short)
  })
  form.addEventListener('submit', (event) => {
    if (event.submitter?.hasAttribute('formaction') !== true) return
    event.preventDefault()
    show().then(() => beside.focus())
  })
}

function sayBeside(message: string): void {
  document.querySelector('#beside')?.replaceChildren(make('p', { class: 'warning' }, message))
}

/** Returns the findings of single lines, to mark them in the text. */
function findingsIn(beside: HTMLElement, content: EditorView): Diagnostic[] {
  return [...beside.querySelectorAll<HTMLElement>('[data-line]')].map(({ dataset }) => ({
    ...rangeOf(content, dataset.line),
    severity: dataset.severity === 'error' ? 'error' : 'warning',
    message: dataset.message ?? '',
  }))
}

/** Returns the range of a line, or of the last line if there are fewer. */
function rangeOf({ state: { doc } }: EditorView, line: string | undefined): { from: number; to: number } {
  const { from, to } = doc.line(Math.min(Number(line), doc.lines))
  return { from, to }
}

/** Makes the links of findings select their lines. */
function leadToLines(findings: HTMLElement, content: EditorView): void {
  findings.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-line]') : null
    if (link === null) return
    event.preventDefault()
    const { from, to } = rangeOf(content, link.dataset.line)
    content.dispatch({
      selection: { anchor: from, head: to },
      effects: EditorView.scrollIntoView(from, { y: 'center' }),
    })
    content.focus()
  })
}

/** Suggests names at the caret. */
function suggesting(kind: FieldKind, at: { url: string; path: string }) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const text = context.state.doc.toString()
    const asked = queryAt(text, context.pos, kind)
    if (asked === undefined) return null
    const asking = new AbortController()
    context.addEventListener('abort', () => asking.abort(), { onDocChange: true })
    const found = await suggestionsFor(asked, text, at, asking.signal).catch(() => [])
    const options = (kind === 'edges' ? fitting(asked, text, found) : found).map((one) => optionOf(one, asked, kind))
    return { from: asked.from, to: asked.to, options, filter: false }
  }
}

function optionOf({ text: label, hint }: Suggestion, asked: Query, kind: FieldKind): Completion {
  const apply = (view: EditorView, _: Completion, from: number, to: number) => {
    const { text, goesOn } = chosen(asked, kind, label)
    view.dispatch({
      changes: { from, to, insert: text },
      selection: { anchor: from + text.length },
      scrollIntoView: true,
      userEvent: 'input.complete',
    })
    if (goesOn) startCompletion(view)
  }
  return { label, apply, ...(hint === undefined ? {} : { detail: hint }) }
}

async function suggestionsFor(
  { kind, q, target }: Query,
  text: string,
  { url, path }: { url: string; path: string },
  signal: AbortSignal,
): Promise<Suggestion[]> {
  if (kind === 'heading' && target === '') return ownHeadings(text, q).map((heading) => ({ text: heading }))
  const asked = new URLSearchParams({ kind, q, target, path })
  const answer = await fetch(`${url}?${asked}`, { signal, headers: { accept: 'application/json' } })
  return answer.ok ? (await answer.json()).found : []
}

/** Returns the suggestions that fit: a relation begins with a type, followed by a page. */
function fitting({ from }: Query, text: string, suggestions: Suggestion[]): Suggestion[] {
  const isTyped = text.slice(text.lastIndexOf('\n', from - 1) + 1, from).includes(':')
  return suggestions.filter((suggestion) => suggestion.text.endsWith(':') !== isTyped)
}

/** Replaces the text areas of the page's form by editors. */
export function showEditors(): void {
  const form = document.querySelector<HTMLFormElement>('form[data-editor]')
  const beside = document.querySelector<HTMLElement>('#beside')
  const areas = form?.querySelectorAll<HTMLTextAreaElement>('textarea[data-complete]:not([hidden])') ?? []
  if (form === null || beside === null || areas.length === 0) return
  const { completeAt: url = '', path = '', preview = '' } = form.dataset
  let content: EditorView | undefined
  for (const area of areas) {
    const kind = area.dataset.complete as FieldKind
    const view = editorFor(area, form, [
      autocompletion({
        override: [suggesting(kind, { url, path })],
        activateOnTypingDelay: 120,
        icons: false,
        optionClass: () => 'suggestion',
      }),
      kind === 'text' ? [ofText, alignedTables()] : [],
    ])
    if (kind === 'text') content = view
  }
  if (content) {
    followText(form, { content, beside, preview })
    leadToLines(beside, content)
  }
}

showEditors()
