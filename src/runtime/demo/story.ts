/** Where the demo's text goes. */
export interface StoryOutput {
  write(text: string): unknown
}

/** The demo's account of itself: numbered chapters, checked statements, timings. */
export interface Story {
  chapter(title: string): void
  /** A fact, with the time since the chapter began. */
  tell(line: string): void
  /** A statement that must hold; the demo fails when one does not. */
  check(statement: string, holds: boolean): void
  /** What a command prints, as it is, without a time. */
  show(text: string): void
  readonly checks: number
  readonly failures: readonly string[]
}

export function createStory(out: StoryOutput, now: () => number = () => performance.now()): Story {
  const failures: string[] = []
  let checks = 0
  let chapters = 0
  let chapterStartedAt = now()

  function line(mark: string, text: string): void {
    const milliseconds = Math.round(now() - chapterStartedAt)
    out.write(`   ${mark} ${text}${milliseconds >= 1 ? `  (${milliseconds} ms)` : ''}\n`)
  }

  return {
    chapter(title) {
      chapters += 1
      chapterStartedAt = now()
      out.write(`\n${chapters}. ${title}\n`)
    },
    tell: (text) => line('·', text),
    check(statement, holds) {
      checks += 1
      if (!holds) failures.push(statement)
      line(holds ? '✓' : '✗', statement)
    },
    show(text) {
      out.write(`\n${text.replace(/^(?=.)/gm, '     ')}`)
    },
    get checks() {
      return checks
    },
    failures,
  }
}
