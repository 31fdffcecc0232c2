import { button, checkbox, form } from '../layout/form.ts'
import { type Html, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'

export type ConsentView = {
  uid: string
  /** As the agent calls itself: anybody may. */
  client: string
  /** Host, or scheme, to which the person goes back. */
  goesTo: string
  knowledgeBases: readonly { slug: string; title: string }[]
  /** Whether it asks to propose, and the person may let it. */
  mayPropose: boolean
}

/** Asks a person whether an agent may act for them. */
export function consentPage(visit: Visit, { uid, client, goesTo, knowledgeBases, mayPropose }: ConsentView): Html {
  const { user, tenant } = visit.session
  return page(visit, {
    title: 'Connect an agent',
    main: html`<h1>Connect <bdi>${client}</bdi>?</h1>
      <p>The agent chose this name itself. It gets your answer at <strong><bdi>${goesTo}</bdi></strong>. Connect it only if you started this yourself. You are
        signed in as ${user.name} (${user.email}), in the tenant <bdi>${tenant.slug}</bdi>.</p>
      <h2>It may read and ask</h2>
      ${
        knowledgeBases.length === 0
          ? html`<p>There are no knowledge bases yet. It may read new ones.</p>`
          : html`<p>These knowledge bases and new ones, as far as the role of its key allows:</p>
            <ul>${knowledgeBases.map(({ slug, title }) => html`<li><bdi>${title}</bdi> <span class="hint">${slug}</span></li>`)}</ul>`
      }
      ${form(visit, { action: `/oauth/consent/${uid}` }, [
        mayPropose &&
          checkbox({
            name: 'propose',
            label: 'It may also propose: new pages, corrections and removals, which the policy or a curator decides on',
            isChecked: true,
          }),
        html`<p class="hint">You can disconnect it in your account at any time.</p>`,
        html`<p class="row">${button('Connect', { name: 'decision', value: 'allow' })}
          ${button('Refuse', { name: 'decision', value: 'deny', class: 'second' })}</p>`,
      ])}`,
  })
}

/** Leads back to the agent, by a header: a form must lead nowhere but to this server. */
export function goingBackPage(visit: Visit, to: string): Html {
  return page(visit, {
    title: 'Going back',
    main: html`<h1>Going back to the agent</h1><p><a href="${to}">Go on</a>, if nothing happens.</p>`,
  })
}
