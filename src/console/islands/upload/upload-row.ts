import { make, pushButton, root } from '../dom.ts'
import { type OpenUpload, type Setback, sizeInWords } from './upload-plan.ts'
import { runUpload, type UploadTarget } from './upload-run.ts'
import { browserTransport } from './upload-transport.ts'

type RowOptions = {
  kb: string
  /** Folder of the Source. */
  path: string
  replace: boolean
  token: string
  known: OpenUpload | undefined
  /** Announces a text to screen readers. */
  tell: (text: string) => void
  /** Puts the row back into the queue. */
  restart: (row: UploadRow) => void
}

type Offer = readonly [label: string, act: () => void]

/** An upload as an item of the list: its progress, and buttons for the possible actions. */
export class UploadRow {
  readonly element: HTMLLIElement
  readonly #file: File
  readonly #options: RowOptions
  readonly #target: UploadTarget
  readonly #text = make('p')
  readonly #bar: HTMLProgressElement
  readonly #buttons = make('div', { class: 'row' })
  readonly #cancel: Offer = ['Cancel', () => this.#remove()]
  readonly #resume: Offer = ['Resume', () => this.#restart()]
  #stopping = new AbortController()

  constructor(file: File, options: RowOptions) {
    const { kb, path, replace, known } = options
    this.#file = file
    this.#options = options
    this.#target = { kb, path, replace, force: false, uploadId: known?.uploadId }
    const { name, size } = file
    const progress = { max: String(size), value: String(known?.bytesReceived ?? 0) }
    this.#bar = make('progress', { ...progress, 'aria-label': `Progress of ${name}` })
    const title = make('strong', {}, make('bdi', {}, name))
    this.element = make('li', {}, title, this.#bar, this.#text, this.#buttons)
    this.#say('Waits for its turn.')
    this.#offer([this.#cancel])
  }

  async run(): Promise<void> {
    const { signal } = this.#stopping
    if (signal.aborted) return
    this.#offer([['Pause', () => this.#pause()], this.#cancel])
    const { size } = this.#file
    const end = await runUpload(this.#file, this.#target, {
      ...{ signal, transport: browserTransport(this.#options.token, signal) },
      show: ({ sent, note }) => {
        if (signal.aborted) return
        this.#bar.value = sent
        const share = Math.floor((100 * sent) / Math.max(1, size))
        const sizes = `${sizeInWords(sent)} of ${sizeInWords(size)} (${share} %)`
        this.#say(note === undefined ? sizes : `${sizes}. ${note}`)
      },
    })
    if (end.kind === 'done') this.#finish(end.id)
    else if (end.kind === 'duplicate') this.#offerDuplicate(end)
    else if (end.kind === 'stop') {
      this.#fail(end.message)
      this.#offer([...(end.canResume ? [this.#resume] : []), ['Remove', () => this.#remove()]])
    }
  }

  refuse(problem: string): void {
    this.#bar.hidden = true
    this.#fail(problem)
    this.#offer([['Dismiss', () => this.element.remove()]])
  }

  #finish(id: string): void {
    this.#bar.hidden = true
    this.element.dataset.done = ''
    this.#say('Uploaded. ', this.#linkTo(id, 'Open'))
    this.#offer([])
    this.#options.tell(`${this.#file.name} is uploaded.`)
    this.element.dispatchEvent(new CustomEvent('sources-changed', { bubbles: true }))
  }

  /** Shows that the server already has these bytes, under this name or another, with the choices. */
  #offerDuplicate({ documentId, filename, path }: Extract<Setback, { kind: 'duplicate' }>): void {
    this.#say('The same file is here already: ', this.#linkTo(documentId, filename), '.')
    this.#options.tell(`${this.#file.name}: the same file is here already.`)
    const isSamePlace = filename === this.#file.name.normalize('NFC') && path === this.#options.path
    const again = (replace: boolean) => () => {
      Object.assign(this.#target, { force: true, replace })
      this.#restart()
    }
    this.#offer([
      ['Leave it', () => this.#remove()],
      isSamePlace ? ['Replace it', again(true)] : ['Upload it all the same', again(this.#options.replace)],
    ])
  }

  #pause(): void {
    this.#stopping.abort()
    this.#say(`Paused at ${sizeInWords(this.#bar.value)} of ${sizeInWords(this.#file.size)}.`)
    this.#offer([this.#resume, this.#cancel])
  }

  #restart(): void {
    this.#stopping = new AbortController()
    this.#say('Waits for its turn.')
    this.#offer([this.#cancel])
    this.#options.restart(this)
  }

  #remove(): void {
    this.#stopping.abort()
    this.element.remove()
    const { uploadId } = this.#target
    if (uploadId === undefined) return
    const transport = browserTransport(this.#options.token, new AbortController().signal)
    void transport.call('DELETE', `/api/v1/uploads/${uploadId}`)
  }

  #linkTo(id: string, text: string): HTMLAnchorElement {
    const href = `${root}/kb/${encodeURIComponent(this.#options.kb)}/sources/${encodeURIComponent(id)}`
    return make('a', { href }, text)
  }

  #say(...parts: readonly (Node | string)[]): void {
    this.#text.replaceChildren(...parts)
    this.#text.className = ''
  }

  #fail(problem: string): void {
    this.#say(problem)
    this.#text.className = 'error'
    this.#options.tell(`${this.#file.name}: ${problem}`)
  }

  #offer(buttons: readonly Offer[]): void {
    const hadFocus = this.#buttons.contains(document.activeElement)
    const { name } = this.#file
    this.#buttons.replaceChildren(
      ...buttons.map(([label, act]) => pushButton(label, act, { 'aria-label': `${label}: ${name}` })),
    )
    if (hadFocus) this.#buttons.querySelector('button')?.focus()
  }
}
