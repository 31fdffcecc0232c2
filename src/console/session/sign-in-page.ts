import { button, type FormErrors, field, form } from '../layout/form.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { barePage } from '../layout/page.ts'

export type SignInView = {
  /** Path to go on to. */
  next: string
  email?: string | undefined
  /** Whether people may sign in with an identity provider. */
  hasSingleSignOn: boolean
  errors?: FormErrors
  notice?: HtmlPart
}

export function signInPage({ next, email, hasSingleSignOn, errors, notice }: SignInView): Html {
  const main = html`<h1>Sign in</h1>
    ${notice && html`<p class="notice" role="status">${notice}</p>`}
    ${hasSingleSignOn && html`<p><a class="button" href="/sign-in/oidc?next=${encodeURIComponent(next)}">Sign in with single sign-on</a></p><p>Or with a password:</p>`}
    ${form(
      { formToken: '' },
      { action: '/sign-in', errors },
      html`<input type="hidden" name="next" value="${next}">
      ${field({
        name: 'email',
        label: 'E-mail',
        type: 'email',
        value: email,
        attributes: { autocomplete: 'username', required: true },
      })}
      ${field({
        name: 'password',
        label: 'Password',
        type: 'password',
        attributes: { autocomplete: 'current-password', required: true },
      })}
      ${button('Sign in')}`,
    )}
    <p class="hint">Forgotten your password? Ask an administrator for a link to choose a new one.</p>`
  return barePage({ title: 'Sign in', main })
}
