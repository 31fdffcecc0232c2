import type { Nodes as HtmlNode } from 'hast'
import type { Nodes as MarkdownNode } from 'mdast'

type TreeNode = { type: string; children?: readonly TreeNode[] }

/** Yields a node of a syntax tree (hast or mdast) and all nodes below it, in order. The children of a node are read after it is yielded. */
export function nodesOf(tree: HtmlNode): Generator<HtmlNode>
export function nodesOf(tree: MarkdownNode): Generator<MarkdownNode>
export function* nodesOf(tree: TreeNode): Generator<TreeNode> {
  const open = [tree]
  for (let node = open.pop(); node; node = open.pop()) {
    yield node
    for (const child of node.children?.toReversed() ?? []) open.push(child)
  }
}

/** Returns the text of HTML. */
export function hastText(node: HtmlNode): string {
  let text = ''
  for (const each of nodesOf(node)) if (each.type === 'text') text += each.value
  return text
}
