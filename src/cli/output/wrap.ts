/** Breaks a sentence between words, so that no line has more than `width` characters; a longer word is cut. */
export function wrapText(text: string, width: number): readonly string[] {
  const most = Math.max(1, width)
  const lines: string[] = []
  let line: readonly string[] = []
  for (const word of text.split(' ')) {
    let rest = [...word]
    if (line.length > 0 && line.length + 1 + rest.length <= most) {
      line = [...line, ' ', ...rest]
      continue
    }
    if (line.length > 0) lines.push(line.join(''))
    for (; rest.length > most; rest = rest.slice(most)) lines.push(rest.slice(0, most).join(''))
    line = rest
  }
  return [...lines, line.join('')]
}

/** One line of at most `width` characters; what is too much is an ellipsis. */
export function cutText(text: string, width: number): string {
  const characters = [...text]
  if (characters.length <= width) return text
  return width < 1 ? '' : `${characters.slice(0, width - 1).join('')}…`
}
