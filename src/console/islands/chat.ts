import { fieldsOf } from './dom.ts'
import { EventLines, problemOf, withoutCitations } from './event-lines.ts'

function ask(form: HTMLFormElement): void {
  const message = form.querySelector('textarea')
  const session = form.querySelector<HTMLInputElement>('input[name=sessionId]')
  const send = form.querySelector<HTMLButtonElement>('button[type=submit]')
  const turns = document.querySelector('#turns')
  const pane = document.querySelector<HTMLElement>('#answering')
  const question = pane?.querySelector('[data-question]')
  const answer = pane?.querySelector('[data-answer]')
  const stop = pane?.querySelector<HTMLButtonElement>('[data-stop]')
  const news = document.querySelector('[data-chat-news]')
  if (!message || !session || !send || !turns || !pane || !question || !answer || !stop || !news) return
  let stopping: AbortController | undefined

  const finish = (data: string) => {
    const done: { url: string; sessionId: string; html: string } = JSON.parse(data)
    session.value = done.sessionId
    // The server has rendered and sanitised it.
    turns.insertAdjacentHTML('beforeend', done.html)
    message.value = ''
    history.replaceState(null, '', done.url)
    news.textContent = 'The answer is here.'
    const last = turns.lastElementChild
    if (last instanceof HTMLElement) {
      last.tabIndex = -1
      last.focus()
    }
  }

  const run = async (signal: AbortSignal) => {
    const body = new URLSearchParams(fieldsOf(form))
    const response = await fetch(form.action, {
      method: 'POST',
      body,
      signal,
      headers: { accept: 'text/event-stream' },
    })
    const type = response.headers.get('content-type') ?? ''
    if (!response.ok || response.body === null || !type.startsWith('text/event-stream')) {
      const problem = type.startsWith('application/json') ? await response.json() : undefined
      return problemOf(response.status, problem, response.headers.get('retry-after'))
    }
    const lines = new EventLines()
    let text = ''
    for await (const piece of piecesOf(response.body)) {
      for (const { event, data } of lines.push(piece)) {
        if (event === 'done') {
          finish(data)
          return ''
        }
        if (event === 'error') return problemOf(500, JSON.parse(data), null)
        text += JSON.parse(data).text
        answer.textContent = withoutCitations(text)
      }
    }
    return problemOf(0, undefined, null)
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (stopping !== undefined || message.value.trim() === '') return
    const current = new AbortController()
    stopping = current
    question.textContent = message.value
    answer.textContent = ''
    news.textContent = 'The answer is being written.'
    pane.hidden = false
    send.disabled = true
    run(current.signal)
      .catch(() => (current.signal.aborted ? 'Stopped. Your question is still here.' : problemOf(0, undefined, null)))
      .then((problem) => {
        if (problem !== '') news.textContent = problem
        pane.hidden = true
        send.disabled = false
        stopping = undefined
      })
  })
  stop.addEventListener('click', () => stopping?.abort())
  message.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.altKey || event.isComposing) return
    event.preventDefault()
    form.requestSubmit()
  })
}

async function* piecesOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  for (let step = await reader.read(); !step.done; step = await reader.read()) yield step.value
}

const form = document.querySelector<HTMLFormElement>('#ask')
if (form !== null) ask(form)
