import { kbPage } from '../../contract/console-paths.ts'
import { type Html, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { kbLifePath } from './kb-life-page.ts'

const places = [
  { path: '/settings/keys', label: 'API keys', text: 'For programs, and for git.' },
  { path: '/settings/people', label: 'People', text: 'Who may sign in, and what they may do.' },
  { path: '/settings/audit', label: 'Audit', text: 'What administrators have done.' },
  { path: '/settings/webhooks', label: 'Webhooks', text: 'Send what happens to other programs.' },
  { path: '/settings/forges', label: 'Forges', text: 'Which knowledge bases are reviewed as pull requests.' },
  { path: '/settings/health', label: 'Health', text: 'What is broken, sizes, backups, and a check of everything.' },
] as const

type SettingsView = {
  kbs: readonly { slug: string; title: string }[]
  disabled: readonly { slug: string }[]
  exported?: string | undefined
}

export function settingsPage(visit: Visit, { kbs, disabled, exported }: SettingsView): Html {
  const notice =
    exported &&
    html`The knowledge base is deleted. It was exported to <code>exports/${exported}</code> in the data directory.`
  return page(visit, {
    notice,
    title: 'Settings',
    main: html`<h1>Settings</h1>
      <ul class="cards">${places.map(
        ({ path, label, text }) =>
          html`<li class="card"><a href="${path}"><strong>${label}</strong></a><br>${text}</li>`,
      )}</ul>
      <h2>Of a knowledge base</h2>
      <p>Policy, zones, audiences, language and tone. A change is a commit. It is renamed, disabled and deleted there, too.</p>
      ${
        kbs.length === 0
          ? html`<p class="empty">There is no knowledge base yet.</p>`
          : html`<ul>${kbs.map(({ slug, title }) => html`<li><a href="${kbPage(slug)}/settings"><bdi>${title}</bdi></a></li>`)}</ul>`
      }
      ${
        disabled.length > 0 &&
        html`<h3>Disabled</h3>
          <ul>${disabled.map(({ slug }) => html`<li><a href="${kbLifePath(slug)}">${slug}</a></li>`)}</ul>`
      }`,
  })
}
