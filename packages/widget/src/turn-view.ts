import { type Answered, ChatProblem, type ChatService, type Cited } from './chat-service.ts'
import type { Say } from './chat-texts.ts'
import { type Child, make, pushButton } from './element.ts'
import { type Cite, markdownNodes, webAddress } from './markdown-nodes.ts'
import { voteForm } from './vote-form.ts'

export type CiteFormat = 'inline' | 'footnote' | 'off'

export type TurnOptions = {
  say: Say
  service: ChatService
  citeFormat: () => CiteFormat
  /** Announces a text to screen readers. */
  announce: (text: string) => void
}

/** Minimum pause between two renderings of a streaming answer, as a multiple of the time that the last one took. */
const restFactor = 5

/** View of a question with its answer: first while it streams, then complete. */
export class TurnView {
  readonly root: HTMLElement
  readonly question: string
  readonly #options: TurnOptions
  readonly #answer = make('div', { class: 'answer', dir: 'auto' })
  #text = ''
  #nextLook = 0

  constructor(question: string, options: TurnOptions) {
    this.question = question
    this.#options = options
    const asked = make('p', { class: 'question', dir: 'auto' })
    asked.append(make('span', { class: 'unseen' }, `${options.say('asked')} `), question)
    this.root = make('article', { 'aria-busy': 'true' }, asked, this.#answer)
  }

  /** Shows the answer so far. */
  write(text: string): void {
    this.#text = text
    const begun = performance.now()
    if (begun < this.#nextLook) return
    this.#render()
    this.#nextLook = performance.now() + restFactor * (performance.now() - begun)
  }

  #render(): void {
    this.#answer.replaceChildren(...markdownNodes(withoutOpenCitation(this.#text), () => ''))
  }

  finish(answered: Answered): void {
    const { say } = this.#options
    const citeFormat = this.#options.citeFormat()
    const sources = citeFormat === 'off' ? [] : this.#sourcesOf(answered)
    const numbers = new Map(answered.citations.map(({ seqId }, index) => [seqId, index]))
    const cite: Cite = (seqId) => {
      const index = numbers.get(seqId)
      const source = index === undefined ? undefined : sources[index]
      if (index === undefined || source === undefined || citeFormat !== 'footnote') return ''
      const { title, filename = '' } = answered.citations[index] ?? {}
      const label = say('source', { number: index + 1, title: title ?? filename })
      const open = () => {
        source.open = true
        source.querySelector('summary')?.focus()
      }
      return make('sup', {}, pushButton(open, { class: 'mark', 'aria-label': label }, String(index + 1)))
    }
    this.#answer.replaceChildren(...markdownNodes(answered.answer, cite))
    if (answered.notice !== undefined) this.root.append(make('p', { class: 'notice' }, answered.notice))
    if (sources.length > 0) {
      const items = sources.map((source) => make('li', {}, source))
      const heading = make('p', { class: 'heading' }, say('sources'))
      this.root.append(make('div', { class: `sources ${citeFormat}` }, heading, make('ol', {}, ...items)))
    }
    this.root.append(this.#actions(answered))
    this.root.setAttribute('aria-busy', 'false')
  }

  /** Shows why the answer is missing or incomplete. */
  fail(text: string, retry: () => void): void {
    this.#render()
    const again = pushButton(retry, { class: 'second' }, this.#options.say('retry'))
    this.root.append(make('p', { class: 'problem' }, make('span', {}, text), ' ', again))
    this.root.setAttribute('aria-busy', 'false')
  }

  /** Creates a disclosure for each cited page. Its passages are requested when it is opened for the first time. */
  #sourcesOf({ citations }: Answered): HTMLDetailsElement[] {
    const { say, service } = this.#options
    return citations.map((cited) => {
      const content = make('div', { class: 'passage', dir: 'auto' }, say('loading'))
      const name = cited.title ?? cited.filename ?? cited.path ?? ''
      const details = make('details', {}, make('summary', {}, make('bdi', {}, name)), content)
      const load = async () => {
        const { seqId } = cited
        const passages =
          seqId === undefined ? [] : await service.passages(`${name} ${this.question}`.slice(0, 8000), seqId)
        const shown: Child[] = passages.flatMap((passage) => markdownNodes(passage, () => ''))
        content.replaceChildren(...(shown.length > 0 ? shown : [say('unavailable')]), ...this.#pageOf(cited))
      }
      const opened = () => {
        if (!details.open) return
        details.removeEventListener('toggle', opened)
        load().catch(() => content.replaceChildren(say('unavailable'), ...this.#pageOf(cited)))
      }
      details.addEventListener('toggle', opened)
      return details
    })
  }

  /** Returns a link to the cited page, or nothing if its address belongs to the API, which requires a key. */
  #pageOf({ url = '' }: Cited): Child[] {
    const address = url.includes('/api/') ? undefined : webAddress(url)
    if (address === undefined) return []
    return [' ', make('a', { href: address, target: '_blank', rel: 'noopener noreferrer' }, this.#options.say('page'))]
  }

  #actions(answered: Answered): HTMLElement {
    const { say, announce, service } = this.#options
    const copy = () => copyText(withoutCitations(answered.answer), this.#answer).then(() => announce(say('copied')))
    const buttons = make('div', { class: 'actions' }, pushButton(copy, { class: 'quiet' }, say('copy')))
    // The server replaces only votes on the turns of its own conversations.
    const replaces = answered.sessionId !== undefined && answered.turnId !== undefined
    const thanks = make('span', { class: 'thanks' }, say('thanks'))
    let cast = 'none'
    const send = async (given: Readonly<Record<string, unknown>> & { vote: string }) => {
      await service.vote({ ...given, ...(replaces && { replaces }), ...voteSubject(this.question, answered) })
      cast = given.vote
      for (const button of buttons.querySelectorAll<HTMLElement>('[data-vote]')) {
        if (replaces) button.setAttribute('aria-pressed', String(button.dataset.vote === cast))
        else button.remove()
      }
      if (cast === 'none') return thanks.remove()
      buttons.append(thanks)
      announce(say('thanks'))
    }
    const failed = (error: unknown) => announce(problemText(error, say))
    let form: HTMLFormElement | undefined
    const open = (vote: 'down' | 'flag') => {
      form?.remove()
      form = voteForm(say, vote, {
        send: (given) => send({ vote, ...given }),
        failed,
        close: () => {
          form?.remove()
          buttons.querySelector<HTMLElement>(`[data-vote=${vote}]`)?.focus()
        },
      })
      buttons.after(form)
      form.querySelector('textarea')?.focus()
    }
    const press = (vote: 'up' | 'down' | 'flag') => {
      if (vote !== 'up' && vote !== cast) return open(vote)
      form?.remove()
      send({ vote: vote === cast ? 'none' : vote }).catch(failed)
    }
    const signs = { up: '👍', down: '👎', flag: '🚩' } as const
    for (const vote of ['up', 'down', 'flag'] as const) {
      const sign = make('span', { 'aria-hidden': 'true' }, signs[vote])
      const attributes = { class: 'quiet', 'data-vote': vote, 'aria-label': say(vote), title: say(vote) }
      buttons.append(pushButton(() => press(vote), attributes, sign))
    }
    return buttons
  }
}

/** Returns a message for an error. */
export function problemText(error: unknown, say: Say): string {
  if (!(error instanceof ChatProblem)) return say('failed')
  return error.said ?? say(error.key, { seconds: error.seconds })
}

/** Returns the subject of a vote, cut to the limits of the API. The page's address is sent without its query, which may hold secrets. */
function voteSubject(question: string, { answer, citations, sessionId, turnId }: Answered): Record<string, unknown> {
  const cited = citations.flatMap(({ documentId, path, filename }) =>
    documentId === undefined || path === undefined || filename === undefined ? [] : [{ documentId, path, filename }],
  )
  return {
    question: [...question].slice(0, 2000).join(''),
    answer: [...answer].slice(0, 50_000).join(''),
    citations: cited.slice(0, 100),
    sessionId,
    turnId,
    pageUrl: `${location.origin}${location.pathname}`.slice(0, 500),
  }
}

function withoutCitations(text: string): string {
  return text.replace(/[ \t]*\[[a-z0-9-]+_[0-9]{8}\]/g, '')
}

function withoutOpenCitation(text: string): string {
  return text.replace(/\s*\[[a-z0-9_-]*$/, '')
}

/** Copies a text. A page without TLS has no `navigator.clipboard`, so there the shown text is selected and copied. */
async function copyText(text: string, shown: HTMLElement): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  getSelection()?.selectAllChildren(shown)
  document.execCommand('copy')
}
