import { expect, test } from 'vitest'
import { commentCandidate, dismissCandidate } from '../../src/queue/decide-candidate.ts'
import { approveCandidate } from '../support/approve-candidate.ts'
import { submitted } from './support/candidates.ts'
import { stageForFile } from './support/stage.ts'

const markup = `<script>alert('script')</script>"'><img src=x onerror="alert('image')"><svg onload=alert('svg')>\u202e`
const content = `# ${markup}

${markup}

[link](javascript:alert('link')) <a href="javascript:alert('html')">html</a> [[${markup}]] ![[x" onerror=alert(1) y.png]]
<iframe src="https://evil.example/"></iframe> <style>*{display:none}</style> <form action="https://evil.example"><button>Go</button></form>
![remote](https://evil.example/track.png) ![data](data:text/html,<script>alert('data')</script>)

<div id="find" name="main" style="position:fixed;inset:0">${markup}</div>

\`\`\`"><script>alert('code')</script>
${markup}
\`\`\`

| ${markup} | b |
|---|---|
| ${markup} | [^n] |

[^n]: ${markup}

> [!note]+ ${markup}
> ${markup}
`

let paths: string[] = []
const stage = stageForFile(async (console) => {
  const { ctx, tenantId } = console
  const metadata = JSON.stringify({
    connector: markup,
    tags: [markup],
    filename: markup,
    sourceUrl: "javascript:alert('url')",
  })
  const candidates = [1, 2, 3].map((number) => ({ title: `${number} ${markup}`, content, metadata }))
  const [approved = '', dismissed = '', waiting = ''] = await submitted(console, candidates)
  const curator = { id: 'user:0', name: markup, tenantId, role: 'curator', connectors: [] } as const
  const { seqId } = await approveCandidate(ctx, curator, approved, {})
  await dismissCandidate(ctx, curator, dismissed, { reason: markup })
  await commentCandidate(ctx, curator, waiting, { comment: content })
  const neuron = `/kb/handbook/neurons/${seqId}`
  paths = [
    ...['/', '/queue?status=any', `/queue/${approved}`, `/queue/${dismissed}`, `/queue/${waiting}`],
    ...[
      `/queue/${waiting}?edit=1`,
      `/queue?text=${encodeURIComponent(markup)}`,
      `/search?q=${encodeURIComponent(markup)}`,
    ],
    ...[neuron, `${neuron}/history`, `${neuron}/edit`, `${neuron}/rename`, `${neuron}/remove`],
    ...['/kb/handbook', '/kb/handbook/tree', '/kb/handbook/tags', '/kb/handbook/graph', '/kb/handbook/findings'],
    ...[`/kb/handbook/new?title=${encodeURIComponent(markup)}`, `/kb/handbook/search?q=alert`, '/kb/handbook/settings'],
    ...['/kb/handbook/sources', '/kb/handbook/chat', '/activity', '/account', '/settings/people', '/settings/audit'],
  ]
})

test('no text that anybody wrote runs a script, loads from elsewhere or hides a page', {
  timeout: 300_000,
}, async () => {
  const { page, visit, alarms } = await stage().enter('admin', { name: markup })
  for (const path of paths) {
    await visit(path)
    expect.soft(await page.locator('main').isVisible(), path).toBe(true)
    expect.soft(await page.title(), path).not.toContain('nothing here')
    expect.soft(await page.locator('h1').first().isVisible(), path).toBe(true)
    expect.soft(alarms.splice(0), path).toEqual([])
    expect
      .soft(
        await page
          .locator(
            '[style]:not(.cm-editor, .cm-editor *), main script:not([type="application/json"]), main iframe, [onerror], [onload]',
          )
          .count(),
        path,
      )
      .toBe(0)
    expect.soft(await page.locator('[href^="javascript:" i], [src^="javascript:" i]').count(), path).toBe(0)
  }
})
