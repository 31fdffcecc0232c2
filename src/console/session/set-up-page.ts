import type { LinkPurpose } from '../../people/follow-links.ts'
import { button, type FormErrors, field, form } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import { barePage } from '../layout/page.ts'
import type { FormFields } from '../layout/refused-form.ts'

export type SetUpView = {
  link: string
  view: LinkPurpose
  typed?: FormFields
  errors?: FormErrors
}

/** What a one-time link opens: the first administrator's account, or a new password. */
export function setUpPage({ link, view, typed = {}, errors }: SetUpView): Html {
  const isFirst = view.kind === 'first-administrator'
  const title = isFirst ? 'Welcome to Ganglion' : 'Choose a password'
  const main = html`<h1>${title}</h1>
    <p>${isFirst ? 'This link makes you the administrator of this server. It works once.' : html`For <bdi>${view.name}</bdi>, who signs in as <strong>${view.email}</strong>.`}</p>
    ${form(
      { formToken: '' },
      { action: '/set-up', errors },
      html`<input type="hidden" name="link" value="${link}">
      ${isFirst ? aboutYou(typed, errors) : html`<input type="hidden" name="username" value="${view.email}" autocomplete="username">`}
      ${field({
        name: 'password',
        label: 'Password',
        type: 'password',
        hint: 'At least 12 characters. Three or four unrelated words are easy to remember.',
        errors,
        attributes: { autocomplete: 'new-password', required: true, minlength: 12 },
      })}
      <div class="row">
        ${button(isFirst ? 'Make my account' : 'Save and sign in')}
        ${isFirst && button('Look around first', { name: 'later', value: 'true', class: 'second', formnovalidate: true })}
      </div>`,
    )}
    ${isFirst && html`<p class="hint">Just looking? You can give your e-mail and choose a password later, in your account.</p>`}`
  return barePage({ title, main })
}

function aboutYou(typed: FormFields, errors: FormErrors | undefined): Html {
  return html`${field({
    name: 'email',
    label: 'E-mail',
    type: 'email',
    value: typed.email,
    errors,
    hint: 'You sign in with it. No mail is sent.',
    attributes: { autocomplete: 'username', required: true },
  })}
  ${field({
    name: 'name',
    label: 'Your name',
    value: typed.name,
    errors,
    hint: 'It stands beside what you decide.',
    attributes: { autocomplete: 'name', required: true },
  })}`
}
