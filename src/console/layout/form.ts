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

type ControlOptions = {
  name: string
  label: string
  hint?: HtmlPart
  errors?: FormErrors | undefined
  attributes?: Attributes
}

export function field({
  value,
  type = 'text',
  ...options
}: ControlOptions & { value?: string | undefined; type?: string }): Html {
  return labelled(
    options,
    (described) => html`<input type="${type}" name="${options.name}" value="${value ?? ''}"${described}>`,
  )
}

export function textArea({ value, ...options }: ControlOptions & { value?: string | undefined }): Html {
  // The first line break of a text area's content is not part of it.
  return labelled(
    options,
    (described) => html`<textarea name="${options.name}"${described}>\n${value ?? ''}</textarea>`,
  )
}

export type Choice = { value: string; label: string }

/** Returns choices that are called by their values. */
export function choicesOf(values: readonly string[]): Choice[] {
  return values.map((value) => ({ value, label: value }))
}

export function selectField({
  value,
  choices,
  ...options
}: ControlOptions & { value?: string | undefined; choices: readonly Choice[] }): Html {
  const listed = choices.map(
    (choice) =>
      html`<option value="${choice.value}"${choice.value === value && html` selected`}>${choice.label}</option>`,
  )
  return labelled(options, (described) => html`<select name="${options.name}"${described}>${listed}</select>`)
}

export function checkbox({
  name,
  label,
  value = 'true',
  isChecked,
  hint,
  errors,
  attributes: more = {},
}: ControlOptions & { value?: string; isChecked: boolean }): Html {
  const id = idOf(name, value === 'true' ? '' : value)
  const described = describe({ name, hint, errors }, id)
  return html`<div class="field check">
    <input type="checkbox" id="${id}" name="${name}" value="${value}"${isChecked && html` checked`}${described.attributes}${attributes(more)}>
    <label for="${id}">${label}</label>
    ${described.texts}
  </div>`
}

type ControlDetails = Attributes & { hint?: string; type?: string }

/** Returns functions that make the controls of a form from the values and errors by name. */
export function controlsOf(values: Readonly<Record<string, string | undefined>>, errors?: FormErrors) {
  const ofControl = (name: string, label: string, { hint, ...attributes }: ControlDetails) => ({
    ...{ name, label, value: values[name], errors, attributes },
    ...(hint !== undefined && { hint }),
  })
  return {
    text: (name: string, label: string, { type = 'text', ...details }: ControlDetails = {}) =>
      field({ ...ofControl(name, label, details), type }),
    area: (name: string, label: string, details: ControlDetails = {}) => textArea(ofControl(name, label, details)),
    select: (name: string, label: string, choices: readonly Choice[], details: ControlDetails = {}) =>
      selectField({ ...ofControl(name, label, details), choices }),
    /** A box that is ticked if its field has the value. */
    check: (name: string, label: string, { value = 'true', ...details }: ControlDetails & { value?: string } = {}) =>
      checkbox({ ...ofControl(name, label, details), value, isChecked: values[name] === value }),
  }
}

/** A button that sends its form; `name` and `value` tell which of several it was. */
export function button(label: HtmlPart, more: Attributes = {}): Html {
  return html`<button type="submit"${attributes(more)}>${label}</button>`
}

function labelled(options: ControlOptions, control: (attributes: Html) => Html): Html {
  const id = idOf(options.name)
  const described = describe(options, id)
  return html`<div class="field">
    <label for="${id}">${options.label}</label>
    ${described.texts}
    ${control(html` id="${id}"${described.attributes}${attributes(options.attributes ?? {})}`)}
  </div>`
}

function describe(
  { name, hint, errors }: Pick<ControlOptions, 'name' | 'hint' | 'errors'>,
  id: string,
): { texts: Html; attributes: Html } {
  const messages = errors?.fieldErrors?.[name] ?? []
  const ids = [hint !== undefined && `${id}-hint`, messages.length > 0 && `${id}-error`].filter(
    (part) => part !== false,
  )
  return {
    texts: html`${hint !== undefined && html`<p class="hint" id="${id}-hint">${hint}</p>`}
      ${messages.length > 0 && html`<p class="error" id="${id}-error">${messages.join(' ')}</p>`}`,
    attributes: attributes({
      'aria-describedby': ids.length > 0 && ids.join(' '),
      'aria-invalid': messages.length > 0 && 'true',
    }),
  }
}

/** The id of a field's control; what a form is rendered with must not repeat names. */
function idOf(name: string, suffix = ''): string {
  return `field-${name}${suffix && `-${suffix}`}`
}

/** Fields of a form as they were typed. Of a repeated field, the first counts. */
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
