import { type Html, html } from './html-template.ts'

type LiveNotice = {
  /** Events that change what the page shows, separated by spaces. */
  kinds: string
  kb: string | undefined
  /** The page as it is now. */
  path: string
  /** Id of the part that is taken from there; without it, the page is loaded. */
  target?: string
}

/** Says that there is something new, and shows it when asked, so that nothing moves while somebody reads. For the island `live`. */
export function liveNotice({ kinds, kb, path, target }: LiveNotice): Html {
  return html`<div class="live" data-live="${kinds}"${kb !== undefined && html` data-live-kb="${kb}"`}>
    <p role="status" data-live-news></p>
    <a class="button second" href="${path}"${target !== undefined && html` hx-get="${path}" hx-target="#${target}" hx-swap="outerHTML"`} data-live-show hidden>Show what is new</a>
  </div>`
}
