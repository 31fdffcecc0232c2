import { root } from '../root.ts'
import { type OpenUpload, type Setback, sizeInWords } from './upload-plan.ts'
import { type Step, UploadRun, type UploadTarget } from './upload-run.ts'
import { browserTransport } from './upload-transport.ts'

type RowOptions = {
  kb: string
  /** Folder that it goes to. */
  path: string
  replace: boolean
  token: string
  known: OpenUpload | undefined
  /** Says something to those who cannot see the page. */
  tell: (text: string) => void
  /** Puts the row back into the queue. */
  restart: (row: UploadRow) => void
}

export class UploadRow {
  readonly element = document.createElement('li')
  readonly #file: File
  readonly #options: RowOptions
  readonly #target: UploadTarget
  readonly #text = document.createElement('p')
  readonly #bar = document.createElement('progress')
  readonly #buttons = document.createElement('div')
  #stopping = new AbortController()

  constructor(file: File, options: RowOptions) {
    const { kb, path, replace, known } = options
    this.#file = file
    this.#options = options
    this.#target = { kb, path, replace, force: false, uploadId: known?.uploadId }
    const name = document.createElement('bdi')
    name.textContent = file.name
    const title = document.createElement('strong')
    title.append(name)
    this.#bar.max = file.size
    this.#bar.value = known?.bytesReceived ?? 0
    this.#bar.setAttribute('aria-label', `Progress of ${file.name}`)
    this.#buttons.className = 'row'
    this.element.append(title, this.#bar, this.#text, this.#buttons)
    this.#say('Waits for its turn.')
    this.#offer([['Cancel', () => this.#cancel()]])
  }

  async run(): Promise<void> {
    if (this.#stopping.signal.aborted) return
    this.#offer([
      ['Pause', () => this.#pause()],
      ['Cancel', () => this.#cancel()],
    ])
    const { signal } = this.#stopping
    const transport = browserTransport(this.#options.token, signal)
    const end = await new UploadRun(this.#file, this.#target, transport, (step) => {
      if (!signal.aborted) this.#show(step)
    }).run(signal)
    if (end.kind === 'done') this.#finish(end.id)
    else if (end.kind === 'duplicate') this.#offerDuplicate(end)
    else if (end.kind === 'stop') this.#stop(end)
  }

  refuse(problem: string): void {
    this.#bar.hidden = true
    this.#say(problem, 'error')
    this.#offer([['Dismiss', () => this.element.remove()]])
    this.#options.tell(`${this.#file.name}: ${problem}`)
  }

  #show(step: Step): void {
    this.#bar.value = step.sent
    const share = Math.floor((100 * step.sent) / Math.max(1, this.#file.size))
    const sizes = `${sizeInWords(step.sent)} of ${sizeInWords(this.#file.size)} (${share} %)`
    this.#say(step.note === undefined ? sizes : `${sizes}. ${step.note}`)
  }

  #finish(id: string): void {
    this.#bar.hidden = true
    this.element.dataset.done = ''
    const link = document.createElement('a')
    link.href = `${root}/kb/${encodeURIComponent(this.#options.kb)}/sources/${encodeURIComponent(id)}`
    link.textContent = 'Open'
    this.#say('Uploaded. ')
    this.#text.append(link)
    this.#offer([])
    this.#options.tell(`${this.#file.name} is uploaded.`)
    this.element.dispatchEvent(new CustomEvent('sources-changed', { bubbles: true }))
  }

  #stop({ message, canResume }: Extract<Setback, { kind: 'stop' }>): void {
    this.#say(message, 'error')
    this.#options.tell(`${this.#file.name}: ${message}`)
    this.#offer([...(canResume ? [this.#resumeButton] : []), ['Remove', () => this.#cancel()]])
  }

  /** The server has the same bytes already, under this name or another. */
  #offerDuplicate({ documentId, filename, path }: Extract<Setback, { kind: 'duplicate' }>): void {
    const link = document.createElement('a')
    link.href = `${root}/kb/${encodeURIComponent(this.#options.kb)}/sources/${encodeURIComponent(documentId)}`
    link.textContent = filename
    this.#say('The same file is here already: ')
    this.#text.append(link, '.')
    this.#options.tell(`${this.#file.name}: the same file is here already.`)
    const isSamePlace = filename === this.#file.name.normalize('NFC') && path === this.#options.path
    const again = (replace: boolean) => () => {
      Object.assign(this.#target, { force: true, replace })
      this.#restart()
    }
    this.#offer([
      ['Leave it', () => this.#cancel()],
      isSamePlace ? ['Replace it', again(true)] : ['Upload it all the same', again(this.#options.replace)],
    ])
  }

  #pause(): void {
    this.#stopping.abort()
    this.#say(`Paused at ${sizeInWords(this.#bar.value)} of ${sizeInWords(this.#file.size)}.`)
    this.#offer([this.#resumeButton, ['Cancel', () => this.#cancel()]])
  }

  get #resumeButton(): [string, () => void] {
    return ['Resume', () => this.#restart()]
  }

  #restart(): void {
    this.#stopping = new AbortController()
    this.#say('Waits for its turn.')
    this.#offer([['Cancel', () => this.#cancel()]])
    this.#options.restart(this)
  }

  #cancel(): void {
    this.#stopping.abort()
    this.element.remove()
    const { uploadId } = this.#target
    if (uploadId === undefined) return
    const transport = browserTransport(this.#options.token, new AbortController().signal)
    void transport.call('DELETE', `/api/v1/uploads/${uploadId}`)
  }

  #say(text: string, tone = ''): void {
    this.#text.textContent = text
    this.#text.className = tone
  }

  #offer(buttons: readonly [label: string, act: () => void][]): void {
    const hadFocus = this.#buttons.contains(document.activeElement)
    this.#buttons.replaceChildren(
      ...buttons.map(([label, act]) => {
        const button = document.createElement('button')
        button.type = 'button'
        button.className = 'second'
        button.textContent = label
        button.setAttribute('aria-label', `${label}: ${this.#file.name}`)
        button.addEventListener('click', act)
        return button
      }),
    )
    if (hadFocus) this.#buttons.querySelector('button')?.focus()
  }
}
