import { type HealthReport, healthReports } from '../../operate/health-report.ts'
import { type VerificationRun, verifications } from '../../operate/verify/verifications.ts'
import { postButton } from '../layout/form.ts'
import { type Html, html, when } from '../layout/html-template.ts'
import { dataTable } from '../layout/list-parts.ts'
import { page, type Visit } from '../layout/page.ts'
import { consolePages, isFragment } from '../layout/page-routes.ts'

const backupIsOldMs = 7 * 86_400_000
const units = ['bytes', 'KB', 'MB', 'GB', 'TB']
const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

export const healthRoutes = consolePages({ people: 'admin' }, (pages, ctx) => {
  pages.get('/settings/health', {}, async ({ request, caller, visit }) => {
    const report = await healthReports(ctx).read(caller)
    return isFragment(request)
      ? verification(visit, report.verification, new Date())
      : healthPage(visit, report, new Date())
  })

  pages.post('/settings/health/verify', {}, async ({ caller }) => {
    await verifications(ctx).start(caller)
    return { to: '/settings/health' }
  })
})

export function healthPage(visit: Visit, report: HealthReport, now: Date): Html {
  const { version, problems, kbs, sources, shared } = report
  const hasMeaning = kbs.some(({ meaning }) => meaning !== undefined)
  return page(visit, {
    title: 'Health',
    scripts: ['htmx.js'],
    main: html`<h1>Health</h1>
      <p>Ganglion ${version}</p>
      ${
        problems.length === 0
          ? html`<p><span class="badge good">Ready</span> Requests are served, and nothing is broken.</p>`
          : html`<div class="problems"><p>Not ready</p><ul>${problems.map(({ part, reason }) => html`<li>${part}: ${reason}</li>`)}</ul></div>`
      }
      <h2>Backup</h2>
      ${backup(report, now)}
      ${verification(visit, report.verification, now)}
      <h2>Sizes</h2>
      ${dataTable(
        'Sizes',
        ['What', 'Repository', 'Index', ...(hasMeaning ? ['Found by meaning'] : [])],
        kbs.map(
          ({ slug, repository, index, meaning }) =>
            html`<th scope="row">${slug}</th><td class="number">${sizeText(repository)}</td><td class="number">${sizeText(index)}</td>${hasMeaning && html`<td class="number">${meaning && meaningText(meaning)}</td>`}`,
        ),
        { numbers: hasMeaning ? 3 : 2 },
      )}
      <dl class="report">
        <div><dt>Sources</dt><dd>${sources.count}, ${sizeText(sources.size)}</dd></div>
        ${
          shared === undefined
            ? html`<div><dt>Database and disk</dt><dd>Shared with other tenants: ask the operator.</dd></div>`
            : html`<div><dt>Database</dt><dd>${sizeText(shared.database)}</dd></div>
              <div><dt>Free on the disk</dt><dd>${number.format(shared.freeDisk * 100)} %</dd></div>`
        }
      </dl>`,
  })
}

function backup({ backedUpAt }: HealthReport, now: Date): Html {
  if (backedUpAt === undefined) {
    return html`<p class="warning">No backup is known. <code>ganglion backup DIR</code> makes one while the server runs; copies that
      are made by other means are not known here.</p>`
  }
  const isOld = now.getTime() - Date.parse(backedUpAt) > backupIsOldMs
  return html`<p${isOld && html` class="warning"`}>The last <code>ganglion backup</code> was made ${when(backedUpAt, now)}.
    ${isOld && 'That is more than a week ago.'} Whether its folder is still there, only the operator knows.</p>`
}

function verification(visit: Visit, run: VerificationRun | undefined, now: Date): Html {
  const isRunning = run !== undefined && run.finishedAt === undefined
  const polling = isRunning && html` hx-get="/settings/health" hx-trigger="every 3s" hx-swap="outerHTML"`
  return html`<section id="verification" aria-labelledby="verify"${polling}>
    <h2 id="verify">Verification</h2>
    <p>Repositories, queue, settings, pages and indexes are checked in the background; nothing is changed.</p>
    <div role="status">${run && outcome(run, now)}</div>
    ${
      isRunning
        ? html`<p><a href="/settings/health">Look again</a></p>`
        : postButton(visit, '/settings/health/verify', 'Verify everything')
    }
  </section>`
}

function outcome({ startedAt, by, finishedAt, result }: VerificationRun, now: Date): Html {
  if (finishedAt === undefined) return html`<p>Running since ${when(startedAt, now)}, for <bdi>${by}</bdi>.</p>`
  if (result === undefined)
    return html`<p class="warning">The verification of ${when(finishedAt, now)} was cut off. Try again.</p>`
  return html`<p><span class="badge ${result.ok ? 'good' : 'bad'}">${result.ok ? 'Fine' : 'Problems'}</span> Verified ${when(finishedAt, now)}, for <bdi>${by}</bdi>.</p>
    <ul>${result.kbs.map(
      ({ slug, id, problems, notes }) => html`<li>${slug ?? id}: ${problems.length === 0 ? 'fine' : ''}
        ${problems.length + notes.length > 0 && html`<ul>${problems.map(({ kind, message }) => html`<li dir="auto"><strong>${kind}</strong>: ${message}</li>`)}${notes.map((note) => html`<li dir="auto">${note}</li>`)}</ul>`}</li>`,
    )}</ul>`
}

function meaningText({ embedded, lacking }: { embedded: number; lacking: number }): string {
  const chunks = `${number.format(embedded)} chunks`
  return lacking === 0 ? chunks : `${chunks}, ${number.format(lacking)} texts wait`
}

function sizeText(bytes: number): string {
  let size = bytes
  let unit = 0
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000
    unit++
  }
  return `${number.format(size)} ${units[unit]}`
}
