/**
 * Keeps what is typed into a candidate's forms in this tab until it is sent, even if the session ends meanwhile. An edit belongs to the
 * version of the candidate and of its page that the form was opened with (`seen`).
 */
const prefix = 'ganglion.review.draft.'

type Field = HTMLInputElement | HTMLTextAreaElement

document.addEventListener('input', ({ target }) => {
  if (!isField(target) || target.form === null) return
  try {
    for (const field of fieldsOf(target.form)) {
      const key = keyOf(field)
      if (key !== undefined) sessionStorage.setItem(key, field.value)
    }
  } catch {
    // The browser's storage is off or full: only the page itself has it.
  }
})

/** A form that posts without scripts has sent its content. If that is rejected, the response contains it again. */
document.addEventListener('submit', ({ target }) => {
  if (target instanceof HTMLFormElement && target.dataset.decide === undefined) forget(target)
})

export function forget(form: HTMLFormElement): void {
  for (const field of fieldsOf(form)) {
    const key = keyOf(field)
    if (key !== undefined) sessionStorage.removeItem(key)
  }
}

/** Restores what was typed. An edit of an older text is only offered: it would hide what has changed since. */
export function restoreDrafts(): void {
  if (document.querySelector('.problems') !== null) return // the server sends back what was typed
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-keep]')) {
    const drafts = fieldsOf(form).map((field) => ({ field, draft: keptOf(field) }))
    const isBehind = drafts.some(({ field, draft }) => field.name === 'seen' && draft !== field.value)
    const typed = drafts.flatMap(({ field, draft }) =>
      draft === null || field.name === 'seen' ? [] : [{ field, draft }],
    )
    const restore = () => {
      for (const { field, draft } of typed) field.value = draft
    }
    const isEdit = typed.some(({ field }) => field.name === 'base')
    if (isEdit && isBehind) void offerDraft(form, restore)
    else restore()
  }
}

async function offerDraft(form: HTMLFormElement, restore: () => void): Promise<void> {
  const { draftOffer } = await import('./draft-offer.ts')
  const message =
    'You have a draft of this edit, typed before the candidate or its page has changed. The form has the text as it is now.'
  const offer = draftOffer(message, {
    restore: () => {
      restore()
      offer.remove()
      const content = form.querySelector('textarea')
      content?.dispatchEvent(new Event('input', { bubbles: true }))
      form.querySelector<HTMLElement>('.cm-content, textarea')?.focus()
    },
    discard: () => {
      forget(form)
      offer.remove()
    },
  })
  offer.setAttribute('role', 'status')
  form.prepend(offer)
}

function fieldsOf(form: HTMLFormElement): Field[] {
  return [...form.elements].filter(isField)
}

function keptOf(field: Field): string | null {
  const key = keyOf(field)
  return key === undefined ? null : sessionStorage.getItem(key)
}

function keyOf({ form, name }: Field): string | undefined {
  const kept = form?.dataset.keep
  return kept === undefined ? undefined : `${prefix}${kept}.${name}`
}

function isField(target: unknown): target is Field {
  if (target instanceof HTMLTextAreaElement) return true
  return target instanceof HTMLInputElement && (target.type === 'text' || /^(?:base|seen)$/.test(target.name))
}
