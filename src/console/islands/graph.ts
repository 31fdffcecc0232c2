/** Draws the graph of a knowledge base on a canvas: drag to move, wheel or buttons to zoom, click to open a page. */

type Node = { seqId: string; title: string; x: number; y: number }
type Link = { source: Node; target: Node }
type Force = { strength(value: number): Force; distance(value: number): Force; distanceMax(value: number): Force }
type Simulation = {
  force(name: string, force: unknown): Simulation
  stop(): Simulation
  tick(count?: number): Simulation
  on(event: 'tick', listener: () => void): Simulation
}
declare const d3: {
  forceSimulation(nodes: Node[]): Simulation
  forceLink(links: Link[]): Force
  forceManyBody(): Force
  forceX(): Force
  forceY(): Force
}

const radius = 4
const box = document.querySelector<HTMLElement>('[data-graph]')
const canvas = box?.querySelector('canvas')
const context = canvas?.getContext('2d')
const under = box?.querySelector('[data-under]')
if (box && canvas && context && under) {
  const { nodes, links } = await load(box.dataset.graph ?? '')
  const view = { x: 0, y: 0, scale: 1, isChosen: false }
  let chosen: Node | undefined
  const told = under.textContent

  const draw = () => {
    const { clientWidth: width, clientHeight: height } = canvas
    const ratio = devicePixelRatio
    if (canvas.width !== width * ratio) canvas.width = width * ratio
    if (canvas.height !== height * ratio) canvas.height = height * ratio
    const colours = getComputedStyle(canvas)
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    context.clearRect(0, 0, width, height)
    context.translate(width / 2 + view.x, height / 2 + view.y)
    context.scale(view.scale, view.scale)
    context.strokeStyle = colours.borderTopColor
    context.lineWidth = 0.5 / view.scale
    context.beginPath()
    for (const { source, target } of links) {
      context.moveTo(source.x, source.y)
      context.lineTo(target.x, target.y)
    }
    context.stroke()
    context.fillStyle = colours.caretColor
    context.beginPath()
    for (const { x, y } of nodes) {
      context.moveTo(x + radius, y)
      context.arc(x, y, radius, 0, 2 * Math.PI)
    }
    context.fill()
    context.fillStyle = colours.color
    context.font = `${12 / view.scale}px system-ui, sans-serif`
    const labelled = view.scale > 1.5 || nodes.length <= 60 ? nodes : chosen ? [chosen] : []
    for (const { x, y, title } of labelled) context.fillText(title.slice(0, 40), x + radius * 1.5, y + radius)
  }

  const simulation = d3
    .forceSimulation(nodes)
    .force('link', d3.forceLink(links).distance(30))
    .force('charge', d3.forceManyBody().strength(-40).distanceMax(300))
    .force('x', d3.forceX().strength(0.05))
    .force('y', d3.forceY().strength(0.05))
  const show = () => {
    if (!view.isChosen) Object.assign(view, viewOf(nodes, canvas))
    draw()
  }
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) simulation.stop().tick(200)
  else simulation.on('tick', show)
  show()

  const nearest = ({ offsetX, offsetY }: MouseEvent) => {
    const x = (offsetX - canvas.clientWidth / 2 - view.x) / view.scale
    const y = (offsetY - canvas.clientHeight / 2 - view.y) / view.scale
    const reach = (radius * 2) / Math.min(1, view.scale)
    return nodes.find((node) => Math.hypot(node.x - x, node.y - y) < reach)
  }
  const zoom = (factor: number) => {
    const scale = Math.min(8, Math.max(0.1, view.scale * factor))
    view.x *= scale / view.scale
    view.y *= scale / view.scale
    view.scale = scale
    view.isChosen = true
    draw()
  }
  let drag: { x: number; y: number; isMoved: boolean } | undefined
  canvas.addEventListener('pointerdown', ({ clientX, clientY, pointerId }) => {
    drag = { x: clientX - view.x, y: clientY - view.y, isMoved: false }
    canvas.setPointerCapture(pointerId)
  })
  canvas.addEventListener('pointermove', (event) => {
    if (drag) {
      const [x, y] = [event.clientX - drag.x, event.clientY - drag.y]
      drag.isMoved ||= Math.hypot(x - view.x, y - view.y) > 3
      Object.assign(view, { x, y, isChosen: true })
    }
    chosen = nearest(event)
    canvas.style.cursor = chosen ? 'pointer' : 'grab'
    under.textContent = chosen?.title ?? told
    draw()
  })
  canvas.addEventListener('pointerup', (event) => {
    const node = drag?.isMoved === false ? nearest(event) : undefined
    drag = undefined
    if (node) location.assign(`${box.dataset.page}${encodeURIComponent(node.seqId)}`)
  })
  canvas.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault()
      zoom(event.deltaY < 0 ? 1.1 : 0.9)
    },
    { passive: false },
  )
  for (const button of box.querySelectorAll<HTMLElement>('[data-zoom]'))
    button.addEventListener('click', () => zoom(Number(button.dataset.zoom)))
  addEventListener('resize', show)
}

function viewOf(nodes: readonly Node[], { clientWidth, clientHeight }: HTMLCanvasElement) {
  const [xs, ys] = [nodes.map(({ x }) => x), nodes.map(({ y }) => y)]
  const [left, right] = [Math.min(...xs), Math.max(...xs)]
  const [top, bottom] = [Math.min(...ys), Math.max(...ys)]
  const wanted = Math.min(clientWidth / (right - left + 60), clientHeight / (bottom - top + 60))
  const scale = Math.min(3, Math.max(0.1, wanted))
  return { x: (-(left + right) / 2) * scale, y: (-(top + bottom) / 2) * scale, scale }
}

async function load(url: string): Promise<{ nodes: Node[]; links: Link[] }> {
  const answer = await fetch(url, { headers: { accept: 'application/json' } })
  if (!answer.ok) throw new Error(`The graph could not be loaded: ${answer.status}`)
  const { nodes, links } = await answer.json()
  return {
    nodes,
    links: links.map(([source, target]: [number, number]) => ({ source: nodes[source], target: nodes[target] })),
  }
}
