    %0 =0
c.u{r.e)