const hasNavigation = 'navigation' in window
const held = new Set<() => void>()

/** Shows that a form is being sent, and keeps it from being sent again meanwhile. Its buttons keep the focus and their values. */
export function hold(form: HTMLElement, pressed: HTMLElement | null = null): () => void {
  const buttons = [...form.querySelectorAll<HTMLElement>('button:not([type="button"])')]
  form.setAttribute('aria-busy', 'true')
  for (const button of buttons) button.setAttribute('aria-disabled', 'true')
  const shown = pressed ?? buttons[0]
  shown?.setAttribute('aria-busy', 'true')
  const release = () => {
    for (const element of [form, ...buttons]) {
      element.removeAttribute('aria-busy')
      element.removeAttribute('aria-disabled')
    }
    held.delete(release)
  }
  held.add(release)
  return release
}

function releaseAll(): void {
  for (const release of held) release()
}

addEventListener(
  'submit',
  (event) => {
    if (!(event.target instanceof HTMLFormElement) || event.target.getAttribute('aria-busy') !== 'true') return
    event.preventDefault()
    event.stopImmediatePropagation()
  },
  true,
)

// Registered last: a script that sends the form itself shows its own progress.
addEventListener('submit', ({ target, submitter, defaultPrevented }) => {
  if (defaultPrevented || !(target instanceof HTMLFormElement) || target.method === 'dialog') return
  hold(target, submitter)
  if (!hasNavigation) setTimeout(releaseAll, 20_000)
})

// The page is shown again, from the history or because loading the next page was stopped.
addEventListener('pageshow', releaseAll)
if (hasNavigation) window.navigation.addEventListener('navigateerror', releaseAll)
