import css from './chat.css'
import { ChatService } from './chat-service.ts'
import { englishTexts, fillIn, type Say, type TextKey } from './chat-texts.ts'
import { make, pushButton } from './element.ts'
import { KeptChat } from './kept-chat.ts'
import { type CiteFormat, problemText, TurnView } from './turn-view.ts'

const maxQuestion = 8000

/** Chat about a knowledge base: `<ganglion-chat api="/api/chat-proxy">`. */
export class GanglionChat extends HTMLElement {
  static readonly observedAttributes = ['api', 'height', 'placeholder', 'cite-format', 'mode']

  /** Texts that replace the English ones. */
  texts: Partial<Record<TextKey, string>> = {}
  readonly #shadow = this.attachShadow({ mode: 'open' })
  readonly #status = make('p', { class: 'unseen', role: 'status' })
  readonly #log = make('div', { class: 'log', role: 'log', tabindex: '0' })
  readonly #input = make('textarea', { rows: '1', dir: 'auto', maxlength: String(maxQuestion) })
  #kept = new KeptChat('')
  #service = new ChatService('', this.#kept)
  #asking: AbortController | undefined

  constructor() {
    super()
    // The content security policy of a page can block a `<style>`, but not a constructed style sheet.
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(css)
    this.#shadow.adoptedStyleSheets = [sheet]
    this.#input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
      event.preventDefault()
      this.#submit()
    })
  }

  connectedCallback(): void {
    this.#build()
    // Deferred, so that listeners added right after the element receive it.
    queueMicrotask(() => this.#tell('ready', {}))
  }

  disconnectedCallback(): void {
    this.#asking?.abort()
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (!this.isConnected || this.#shadow.childElementCount === 0 || before === after) return
    if (name === 'api' || (name === 'cite-format' && this.#asking === undefined)) this.#build()
    else this.#buildFrame()
  }

  readonly #say: Say = (key, values = {}) =>
    fillIn(this.getAttribute(`text-${key}`) ?? this.texts[key] ?? englishTexts[key], values)

  /** Rebuilds the element with the turns stored for its address. */
  #build(): void {
    this.#asking?.abort()
    const api = this.getAttribute('api') ?? ''
    this.#kept = new KeptChat(api)
    this.#service = new ChatService(api, this.#kept)
    this.#log.replaceChildren()
    this.#buildFrame()
    for (const { question, answered } of this.#kept.turns) this.#newTurn(question).finish(answered)
    this.#log.scrollTop = this.#log.scrollHeight
  }

  /** Rebuilds the frame around the turns and the input, which stay, so that a pending answer continues. */
  #buildFrame(): void {
    const say = this.#say
    const wasOpen = this.#shadow.querySelector<HTMLElement>('.panel')?.hidden === false
    const hadFocus = this.#shadow.activeElement === this.#input
    const { scrollTop } = this.#log
    const placeholder = this.getAttribute('placeholder') ?? say('placeholder')
    this.#input.placeholder = placeholder
    this.#input.setAttribute('aria-label', placeholder)
    this.#log.setAttribute('aria-label', say('title'))
    const form = make(
      'form',
      { class: 'ask' },
      this.#input,
      make('button', { type: 'submit', class: 'go' }, say('ask')),
      pushButton(() => this.#asking?.abort(), { class: 'stop second' }, say('stop')),
    )
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      this.#submit()
    })
    const again = pushButton(() => this.#startAgain(), { class: 'quiet' }, say('again'))
    const head = make('header', {}, make('h2', {}, say('title')), again)
    const panel = make('section', { class: 'panel', 'aria-label': say('title') }, head, this.#log, form, this.#status)
    const height = this.getAttribute('height') ?? '600px'
    panel.style.setProperty('--height', /^\d+$/.test(height) ? `${height}px` : height)
    const root = make('div', { class: 'root' }, panel)
    if (this.getAttribute('mode') === 'launcher') this.#addLauncher(root, panel, head, wasOpen)
    this.#shadow.replaceChildren(root)
    this.#log.scrollTop = scrollTop
    if (hadFocus) this.#input.focus()
  }

  #addLauncher(root: HTMLElement, panel: HTMLElement, head: HTMLElement, isOpen: boolean): void {
    const say = this.#say
    const show = (isOpen: boolean) => {
      panel.hidden = !isOpen
      launcher.setAttribute('aria-expanded', String(isOpen))
      if (isOpen) this.#input.focus()
      else launcher.focus()
    }
    const attributes = {
      class: 'launcher',
      'aria-expanded': String(isOpen),
      'aria-label': say('open'),
      title: say('open'),
    }
    const launcher = pushButton(
      () => show(panel.hidden === true),
      attributes,
      make('span', { 'aria-hidden': 'true' }, '?'),
    )
    head.append(pushButton(() => show(false), { class: 'quiet', 'aria-label': say('close') }, '✕'))
    root.classList.add('floating')
    panel.hidden = !isOpen
    panel.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') show(false)
    })
    root.prepend(launcher)
  }

  #newTurn(question: string): TurnView {
    const citeFormat = (): CiteFormat => {
      const format = this.getAttribute('cite-format')
      return format === 'footnote' || format === 'off' ? format : 'inline'
    }
    const announce = (text: string) => {
      this.#status.textContent = text
    }
    const turn = new TurnView(question, { say: this.#say, service: this.#service, citeFormat, announce })
    this.#log.append(turn.root)
    return turn
  }

  #submit(): void {
    const question = this.#input.value.trim()
    if (question === '' || this.#asking !== undefined) return
    this.#input.value = ''
    void this.#ask(this.#newTurn(question))
  }

  #startAgain(): void {
    this.#asking?.abort()
    this.#kept.clear()
    this.#log.replaceChildren()
    this.#input.focus()
  }

  async #ask(turn: TurnView): Promise<void> {
    const { question } = turn
    const [asking, kept] = [new AbortController(), this.#kept]
    this.#asking = asking
    this.toggleAttribute('busy', true)
    this.#status.textContent = this.#say('writing')
    turn.root.scrollIntoView({ block: 'nearest' })
    const sessionId = kept.turns.at(-1)?.answered.sessionId
    try {
      const answered = await this.#service.ask({ message: question, sessionId }, asking.signal, (text) => {
        turn.write(text)
        turn.root.scrollIntoView({ block: 'end' })
      })
      turn.finish(answered)
      kept.add({ question, answered })
      this.#status.textContent = this.#say('answered')
      this.#tell('answer', { question, answer: answered.answer, citations: answered.citations })
    } catch (error) {
      const message = asking.signal.aborted ? this.#say('stopped') : problemText(error, this.#say)
      turn.fail(message, () => {
        if (this.#asking !== undefined) return
        turn.root.remove()
        this.#input.focus()
        void this.#ask(this.#newTurn(question))
      })
      this.#status.textContent = message
      if (!asking.signal.aborted) this.#tell('error', { message })
    }
    this.#asking = undefined
    this.toggleAttribute('busy', false)
  }

  /** Dispatches an event under both names. */
  #tell(name: 'ready' | 'answer' | 'error', detail: object): void {
    for (const prefix of ['trail-chat', 'ganglion-chat']) {
      this.dispatchEvent(new CustomEvent(`${prefix}:${name}`, { bubbles: true, composed: true, detail }))
    }
  }
}
