/** Keeps what is typed into a candidate's forms in this tab until it is sent, even if the session ends meanwhile. */
const prefix = 'ganglion.review.draft.'

type Field = HTMLInputElement | HTMLTextAreaElement

document.addEventListener('input', ({ target }) => {
  if (!isField(target) || target.form === null) return
  const base = target.form.elements.namedItem('base')
  try {
    // An edit belongs to the version that it is based on.
    for (const field of [target, base].filter(isField)) {
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

export function restoreDrafts(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-keep]')) {
    const isSentBack = document.querySelector('.problems') !== null
    for (const field of fieldsOf(form)) {
      const key = keyOf(field)
      const draft = key === undefined || isSentBack ? null : sessionStorage.getItem(key)
      if (draft !== null) field.value = draft
    }
  }
}

function fieldsOf(form: HTMLFormElement): Field[] {
  return [...form.elements].filter(isField)
}

function keyOf({ form, name }: Field): string | undefined {
  const kept = form?.dataset.keep
  return kept === undefined ? undefined : `${prefix}${kept}.${name}`
}

function isField(target: unknown): target is Field {
  if (target instanceof HTMLTextAreaElement) return true
  return target instanceof HTMLInputElement && (target.type === 'text' || target.name === 'base')
}
