import { candidatePage, kbPage, neuronPage } from '../../contract/console-paths.ts'
import { type Tour, type TourStep, tourSteps } from '../../operate/overview/tour.ts'
import { button, form, postButton } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import type { Visit } from '../layout/page.ts'
import { withQuery } from '../layout/page-routes.ts'

/** Search term of the tour: the page of the first example and the pages it links to contain it. */
const searched = 'curator'

const words: Readonly<Record<TourStep, { link: string; why: string }>> = {
  review: {
    link: 'Decide on a candidate',
    why: 'Nothing becomes knowledge before somebody, or the policy, approves it.',
  },
  read: { link: 'Read the page that it made', why: 'An approved candidate is a page, with its history.' },
  search: { link: `Search for “${searched}”`, why: 'The new page is found at once.' },
  ask: { link: 'Ask a question', why: 'The answer names the pages that it stands on.' },
  key: { link: 'Make an API key', why: 'Programs ask with it, and git clones with it.' },
}

/** Renders the steps on the demonstration, with a tick for each that is done. */
export function tourPart(visit: Visit, tour: Tour): Html {
  const { done } = tour
  const count = tourSteps.filter((step) => done[step]).length
  return html`<section class="card tour" aria-labelledby="tour">
    <h2 id="tour">The first five minutes</h2>
    <p>${count === tourSteps.length ? 'You have seen it all.' : `${count} of ${tourSteps.length} done.`}</p>
    <ol>${tourSteps.map(
      (step) => html`<li${done[step] && html` class="done"`}>
        <span class="tick" aria-hidden="true">${done[step] ? '✓' : '○'}</span>
        <div>${way(visit, tour, step)} ${done[step] && html`<span class="badge good">Done</span>`}<br><span class="hint">${words[step].why}</span></div>
      </li>`,
    )}</ol>
    ${postButton(visit, '/tour', 'Put the tour away', { name: 'step', value: 'dismissed', class: 'quiet' })}
  </section>`
}

export function tourPath({ kb, candidateId, seqId }: Tour, step: TourStep): string {
  switch (step) {
    case 'review':
      return candidateId === undefined ? withQuery('/queue', { kb, status: 'any' }) : candidatePage(candidateId)
    case 'read':
      return seqId === undefined ? `${kbPage(kb)}/tree` : neuronPage(kb, seqId)
    case 'search':
      return withQuery(`${kbPage(kb)}/search`, { q: searched })
    case 'ask':
      return `${kbPage(kb)}/chat`
    case 'key':
      return '/settings/keys'
  }
}

function way(visit: Visit, tour: Tour, step: TourStep): Html {
  const { link } = words[step]
  if (step === 'read' && tour.seqId === undefined)
    return html`<span>${link}</span> <span class="hint">(once one is approved)</span>`
  // Nothing else records that somebody has read or searched.
  if (step === 'read' || step === 'search') {
    return form(
      visit,
      { action: '/tour', attributes: { class: 'inline' } },
      button(link, { name: 'step', value: step, class: 'quiet' }),
    )
  }
  return html`<a href="${tourPath(tour, step)}">${link}</a>`
}
