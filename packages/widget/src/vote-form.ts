import type { Say } from './chat-texts.ts'
import { make, pushButton } from './element.ts'

type VoteReason = { reason: string; category: string }
type VoteActs = {
  send: (given: VoteReason) => Promise<void>
  failed: (error: unknown) => void
  close: () => void
}

const categories = ['wrong-info', 'missing-info', 'irrelevant', 'tone', 'other'] as const

/** Creates the form that asks for the reason of a negative vote. */
export function voteForm(say: Say, vote: 'down' | 'flag', { send, failed, close }: VoteActs): HTMLFormElement {
  const options = categories.map((name) => make('option', { value: name }, say(name)))
  const category = make('select', {}, ...options)
  const reason = make('textarea', { required: '', maxlength: '2000', rows: '2', dir: 'auto' })
  const submit = make('button', { type: 'submit' }, say('send'))
  const form = make(
    'form',
    { class: 'vote', 'aria-label': say(vote) },
    make('label', {}, say('category'), category),
    make('label', {}, say('reason'), reason),
    make('div', { class: 'row' }, submit, pushButton(close, { class: 'second' }, say('cancel'))),
  )
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return
    event.stopPropagation()
    close()
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const given = { reason: reason.value.trim(), category: category.value }
    if (given.reason === '') return reason.focus()
    submit.disabled = true
    send(given)
      .then(close, failed)
      .finally(() => {
        submit.disabled = false
      })
  })
  return form
}
