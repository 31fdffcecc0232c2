import type { Page } from '../../support.ts'

type Control = NonNullable<ReturnType<Page['document']['querySelector']>>
type Fields = Record<string, string | readonly string[]>

/** Returns what a browser would send of a page's form, with changed values. */
export function formOf({ document }: Page, changes: Fields = {}, selector = 'form[data-editor]'): Fields {
  const fields: Fields = {}
  for (const control of document.querySelectorAll(`${selector} [name]`)) {
    const name = control.getAttribute('name') ?? ''
    const isChoice = /^(?:checkbox|radio)$/.test(control.getAttribute('type') ?? '')
    const isLeftOut = name === '_csrf' || control.tagName === 'BUTTON' || (isChoice && !control.hasAttribute('checked'))
    if (isLeftOut) continue
    const value = textIn(control).replace(/\r?\n/g, '\r\n')
    fields[name] = isChoice && fields[name] !== undefined ? [fields[name], value].flat() : value
  }
  return { ...fields, ...changes }
}

/** Returns the value of a page's control. */
export function valueIn({ document }: Page, name: string): string | undefined {
  const control = document.querySelector(`[name="${name}"]`)
  return control === null ? undefined : textIn(control)
}

const characters: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }

/**
 * Returns the value as browsers read it: a text area without its first line break. The parser of the tests leaves references as they are.
 */
function textIn(control: Control): string {
  if (control.tagName !== 'TEXTAREA') return control.getAttribute('value') ?? ''
  const text = control.textContent.replace(/^\n/, '')
  return text.replace(/&(\w+|#39);/g, (written: string, name: string) => characters[name] ?? written)
}
