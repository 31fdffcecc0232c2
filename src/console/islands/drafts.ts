import { draftOffer, fieldsOf, make, root } from './dom.ts'
import {
  type Draft,
  type DraftPlace,
  draftsOf,
  forgetDraft,
  forgetSent,
  isSameForm,
  type KeptDraft,
  keepDraft,
} from './draft.ts'

const delay = 500

// Drafts are kept if there is storage, also without a connection.
const forgotten = forgetSent(localStorage, isSubmitted).catch(() => {})
const form = document.querySelector<HTMLFormElement>('form[data-draft]')
if (form !== null) keepDrafts(form, JSON.parse(form.dataset.draft ?? '[]'))

function keepDrafts(form: HTMLFormElement, place: DraftPlace): void {
  /** The text of the page, unless the form shows a rejected one. */
  const initial = form.dataset.typed === undefined ? fieldsIn(form) : undefined
  const bar = document.querySelector<HTMLElement>('[data-drafts]')
  const status = form.querySelector('[data-draft-status]')
  if (bar === null || status === null) return
  const control = (name: string) => form.querySelector<HTMLInputElement>(`input[name="${name}"]`)
  const candidate = () => control('candidate')?.value ?? ''

  let timer: ReturnType<typeof setTimeout> | undefined
  let isUnkept = false
  const keep = (isSent = false) => {
    clearTimeout(timer)
    timer = undefined
    const fields = fieldsIn(form)
    try {
      if (initial !== undefined && isSameForm(fields, initial)) forgetDraft(localStorage, place, candidate())
      else {
        const [base, at] = [control('base')?.value ?? '', new Date().toISOString()]
        keepDraft(localStorage, place, { candidate: candidate(), base, fields, at, isSent })
        status.textContent = 'Not sent yet. Kept as a draft in this browser.'
      }
      isUnkept = false
    } catch {
      isUnkept = true
      status.textContent = 'Not sent yet, and this browser has no room to keep it as a draft.'
    }
  }
  form.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(keep, delay)
  })
  form.addEventListener('keydown', (event) => {
    if (!(event.ctrlKey || event.metaKey) || (event.key !== 's' && event.key !== 'Enter')) return
    event.preventDefault()
    if (event.key === 's') keep()
    else form.requestSubmit(form.querySelector<HTMLElement>('button[value="publish"]'))
  })
  form.addEventListener('submit', (event) => {
    if (event.submitter?.getAttribute('name') === 'do') keep(true)
  })
  addEventListener('pagehide', () => {
    if (timer !== undefined) keep()
  })
  addEventListener('beforeunload', (event) => {
    if (isUnkept) event.preventDefault()
  })

  const restore = (draft: KeptDraft) => {
    fill(form, draft.fields)
    for (const name of ['candidate', 'base'] as const) {
      const hidden = control(name)
      if (hidden) hidden.value = draft[name]
    }
    form.dispatchEvent(new Event('input', { bubbles: true }))
    form.querySelector<HTMLElement>('.cm-content, textarea')?.focus()
  }
  const offer = () => {
    const others = draftsOf(localStorage, place).filter((draft) => draft.candidate !== candidate())
    const isBehind = (draft: Draft) => draft.base !== control('base')?.value
    bar.replaceChildren(
      ...others.map((draft) =>
        draftOffer(messageOf(draft, isBehind(draft)), {
          restore: () => {
            restore(draft)
            offer()
          },
          discard: () => {
            forgetDraft(localStorage, place, draft.candidate)
            offer()
          },
        }),
      ),
    )
  }
  if (initial === undefined) keep()
  forgotten.then(offer)
  tellOtherTabs(place, bar)
}

function messageOf({ at, fields }: KeptDraft, isBehind: boolean): string {
  const title = fields.find(([name]) => name === 'title')?.[1] ?? ''
  const behind = isBehind ? ' The page has changed since: both are merged when you send it.' : ''
  return `You have a draft of “${title}”, typed on ${new Date(at).toLocaleString()}.${behind}`
}

/** Warns if the same page is open in another tab. */
function tellOtherTabs(place: DraftPlace, bar: HTMLElement): void {
  const channel = new BroadcastChannel('ganglion-editor')
  const page = JSON.stringify(place)
  const text = 'This page is open in another tab, too. Each tab keeps a draft of its own.'
  const note = make('p', { class: 'warning', role: 'status' }, text)
  channel.addEventListener('message', ({ data }) => {
    if (data.page !== page) return
    if (!note.isConnected) bar.before(note)
    if (data.isAsking === true) channel.postMessage({ page })
  })
  channel.postMessage({ page, isAsking: true })
}

/** Returns the visible fields, in the order of the form. */
function fieldsIn(form: HTMLFormElement): [string, string][] {
  const isHidden = (name: string) => form.querySelector(`input[type="hidden"][name="${name}"]`) !== null
  return fieldsOf(form).filter(([name]) => !isHidden(name))
}

function fill(form: HTMLFormElement, fields: readonly (readonly [string, string])[]): void {
  for (const control of form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input[name], textarea[name]')) {
    if (control.type === 'hidden') continue
    const values = fields.filter(([name]) => name === control.name).map(([, value]) => value)
    if (control instanceof HTMLInputElement && /^(?:checkbox|radio)$/.test(control.type)) {
      control.checked = values.includes(control.value)
    } else control.value = values[0] ?? ''
  }
}

/** Whether the content sent from this browser was accepted. */
async function isSubmitted(candidate: string): Promise<boolean> {
  const answer = await fetch(`${root}/edits/${encodeURIComponent(candidate)}`, {
    headers: { accept: 'application/json' },
  })
  return answer.ok && (await answer.json()).isSubmitted === true
}
