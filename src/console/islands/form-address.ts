/** Updates the page's URL when htmx shows the result of a form, so that it can be reloaded, bookmarked and shared. */
export function keepAddress(form: HTMLFormElement): void {
  document.addEventListener('htmx:after:swap', async () => {
    const { addressOf } = await import('./address-of.ts')
    const fields = [...new FormData(form)].map(([name, value]): [string, string] => [name, String(value)])
    history.replaceState(history.state, '', addressOf(form.action, fields))
  })
}
