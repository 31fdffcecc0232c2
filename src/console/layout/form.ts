import { z } from 'zod'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { faultSentences } from '../../contract/faults.ts'
import { type Attributes, attributes, type Html, type HtmlPart, html } from './html-template.ts'

/** Errors of a form, by field and as a whole: the shape of a `ValidationError`. */
export type FormErrors = {
  fieldErrors?: Readonly<Record<string, readonly string[] | undefined>>
  formErrors?: readonly string[]
}

type FormOptions = {
  action: string
  errors?: FormErrors | undefined
  attributes?: Attributes
}

export function form(
  visit: { formToken: string },
  { action, errors, attributes: more = {} }: FormOptions,
  content: HtmlPart,
): Html {
  return html`<form method="post" action="${action}"${attributes(more)}>
    <input type="hidden" name="_csrf" value="${visit.formToken}">
    ${errors && errorSummary(errors)}
    ${content}
  </form>`
}

/** Renders a button that posts to a path, with the given fields. */
export function postButton(
  visit: { formToken: string },
  action: string,
  label: HtmlPart,
  more: Attributes = { class: 'second' },
  fields: Readonly<Record<string, string>> = {},
): Html {
  return form(visit, { action }, [hidden(fields), button(label, more)])
}

/** Renders a button within a disclosure, so that a single click does not do what cannot be undone. */
export function confirmedButton(
  visit: { formToken: string },
  action: string,
  [summary, label]: readonly [summary: HtmlPart, label: HtmlPart],
): Html {
  return html`<details><summary>${summary}</summary>${postButton(visit, action, label, { class: 'danger' })}</details>`
}

export function hidden(fields: Readonly<Record<string, string>>): HtmlPart {
  return Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
}

/** Names every problem, with a link to the field that has it. */
export function errorSummary(errors: FormErrors): Html | undefined {
  if (faultSentences(errors).length === 0) return undefined
  return html`<div class="problems" role="alert" tabindex="-1" autofocus>
    <p>There is a problem</p>
    <ul>${errorItems(errors)}</ul>
  </div>`
}

export function errorItems(errors: FormErrors): Html[] {
  return faultSentences(errors).map(({ field, text }) =>
    field === undefined ? html`<li>${text}</li>` : html`<li><a href="#${idOf(field)}">${text}</a></li>`,
  )
}

export type Choice = readonly [value: string, label: string]

/** Returns choices whose labels are their values. */
export function choicesOf(values: readonly string[]): Choice[] {
  return values.map((value) => [value, value])
}

type Values = Readonly<Record<string, string | readonly string[] | undefined>>
type ControlDetails = Attributes & { hint?: string; type?: string }
export type Controls = ReturnType<typeof controlsOf>

/** Returns functions that make the controls of a form from the values and errors by name. */
export function controlsOf(values: Values, errors?: FormErrors) {
  const textOf = (name: string) => [values[name] ?? ''].flat()[0] ?? ''
  const describe = (name: string, id: string, hint: string | undefined) => {
    const messages = errors?.fieldErrors?.[name] ?? []
    const ids = [hint !== undefined && `${id}-hint`, messages.length > 0 && `${id}-error`].filter(Boolean)
    return {
      texts: html`${hint !== undefined && html`<p class="hint" id="${id}-hint">${hint}</p>`}
        ${messages.length > 0 && html`<p class="error" id="${id}-error">${messages.join(' ')}</p>`}`,
      described: attributes({
        'aria-describedby': ids.length > 0 && ids.join(' '),
        'aria-invalid': messages.length > 0 && 'true',
      }),
    }
  }
  const field = (
    name: string,
    label: string,
    { hint, type: _, ...more }: ControlDetails,
    control: (attributes: Html) => Html,
  ) => {
    const id = idOf(name)
    const { texts, described } = describe(name, id, hint)
    return html`<div class="field">
      <label for="${id}">${label}</label>
      ${texts}
      ${control(html` id="${id}"${described}${attributes(more)}`)}
    </div>`
  }
  return {
    text: (name: string, label: string, details: ControlDetails = {}) =>
      field(name, label, details, (more) => {
        return html`<input type="${details.type ?? 'text'}" name="${name}" value="${textOf(name)}"${more}>`
      }),
    area: (name: string, label: string, details: ControlDetails = {}) =>
      // The first line break of a text area's content is not part of it.
      field(name, label, details, (more) => html`<textarea name="${name}"${more}>\n${textOf(name)}</textarea>`),
    select: (name: string, label: string, choices: readonly Choice[], details: ControlDetails = {}) => {
      const isChosen = (value: string) => value === textOf(name)
      const options = choices.map(
        ([value, text]) => html`<option value="${value}"${isChosen(value) && html` selected`}>${text}</option>`,
      )
      return field(name, label, details, (more) => html`<select name="${name}"${more}>${options}</select>`)
    },
    /** A box that is ticked if its field has the value. */
    check: (
      name: string,
      label: string,
      { value = 'true', hint, ...more }: ControlDetails & { value?: string } = {},
    ): Html => {
      const id = idOf(name, value === 'true' ? '' : value)
      const { texts, described } = describe(name, id, hint)
      const isChecked = [values[name]].flat().includes(value)
      return html`<div class="field check">
        <input type="checkbox" id="${id}" name="${name}" value="${value}"${isChecked && html` checked`}${described}${attributes(more)}>
        <label for="${id}">${label}</label>
        ${texts}
      </div>`
    },
  }
}

/** Renders a submit button. `name` and `value` identify it among several. */
export function button(label: HtmlPart, more: Attributes = {}): Html {
  return html`<button type="submit"${attributes(more)}>${label}</button>`
}

/** Returns the id of a field's control. Names must not repeat within a form. */
function idOf(name: string, suffix = ''): string {
  return `field-${name}${suffix && `-${suffix}`}`
}

/** Fields of a form as typed. If a field is repeated, its first value counts. */
export const FormFields = z.record(
  z.string(),
  z.union([z.string(), z.array(z.string()).transform(([first = '']) => first)]),
)
export type FormFields = z.output<typeof FormFields>

/** Returns the status and errors to show with a rejected form. Throws errors of the server. */
export function refusedForm(error: unknown): { status: number; errors: FormErrors } {
  if (error instanceof ValidationError) return { status: 400, errors: error }
  if (!(error instanceof GanglionError) || error.status >= 500) throw error
  return { status: error.status, errors: { formErrors: [error.message] } }
}
