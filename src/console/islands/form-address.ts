import { addressOf } from './address-of.ts'

/** Updates the page's URL to that of the form's result, so that it can be reloaded, bookmarked and shared. */
export function showAddress(form: HTMLFormElement): void {
  const fields = [...new FormData(form)].map(([name, value]): [string, string] => [name, String(value)])
  history.replaceState(history.state, '', addressOf(form.action, fields))
}
