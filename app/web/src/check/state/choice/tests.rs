use super::*;

fn set(pairs: &[(&str, &str)]) -> Choice {
    let mut choice = Choice::default();
    pairs.iter().for_each(|(key, value)| choice.set(key, value).unwrap());
    choice
}

#[test]
fn links_carry_the_form() {
    let check = |pairs: &[(&str, &str)], fragment: &str| {
        let choice = set(pairs);
        assert_eq!(choice.fragment(), fragment);
        assert_eq!(Choice::from_fragment(&format!("#{fragment}")), (choice, vec![]));
    };
    check(&[], "");
    check(&[("weights", "seeded")], "weights=seeded");
    let seeded = ("weights", "seeded");
    check(&[("preset", "a21"), seeded], "preset=a21");
    check(&[("preset", "uresnet"), ("depth", "5"), seeded], "preset=uresnet&depth=5");
    check(&[("residual", "false"), ("connections", "sum"), seeded], "connections=sum&residual=false");
    let others = [("height", "640"), ("seed", "7"), ("input", "file"), ("precision", "bf16"), ("stages", "coarse")];
    check(&others, "height=640&seed=7&input=file&precision=bf16&stages=coarse");
}

#[test]
fn every_field_survives_a_link() {
    for (place, key) in FIELDS.iter().chain(&OTHERS).enumerate() {
        let mut choice = Choice::default();
        let value = match kind(key) {
            Kind::Number => (3 + place).to_string(),
            Kind::Switch => (choice.get(key).as_deref() != Some("true")).to_string(),
            Kind::Words(words) => words.last().unwrap().to_string(),
        };
        choice.set(key, &value).unwrap();
        assert_eq!(choice.get(key), Some(value), "{key}");
        assert_eq!(Choice::from_fragment(&choice.fragment()), (choice, vec![]), "{key}");
    }
}

#[test]
fn sample_weights_and_their_configuration_go_together() {
    let mut choice = Choice::default();
    assert!(choice.has_sample_weights() && choice.faults().is_empty());
    choice.choose("depth", "3").unwrap();
    assert_eq!((choice.get("weights").as_deref(), choice.fragment().as_str()), (Some("seeded"), "depth=3"));
    choice.choose("weights", "sample").unwrap();
    assert_eq!((choice.preset(), choice.fragment().as_str()), (Some("small"), ""));
    choice.choose("weights", "seeded").unwrap();
    choice.choose("preset", "a21").unwrap();
    assert_eq!(choice.fragment(), "preset=a21");
    let (linked, faults) = Choice::from_fragment("weights=sample&preset=a21");
    assert_eq!((faults.len(), linked.faults()[0].key), (0, "weights"));
    assert_eq!(Choice::from_fragment("weights=seeded").0.get("weights").as_deref(), Some("seeded"));
}

#[test]
fn what_a_link_says_wrongly_is_named() {
    let (choice, faults) = Choice::from_fragment("#depth=3&filters=4&width=wide&connections=add&seed=-1");
    assert_eq!(choice, set(&[("depth", "3"), ("weights", "seeded")]));
    assert_eq!(faults.len(), 4, "{faults:?}");
    assert!(faults[0].starts_with("filters: ") && faults[2].contains("concat, sum, none"), "{faults:?}");
    assert_eq!(Choice::from_fragment("#main"), (Choice::default(), vec![]));
}

#[test]
fn faults_stand_at_their_control() {
    let check = |pairs: &[(&str, &str)], expected: &[(&str, Option<(usize, usize)>)]| {
        let found = set(pairs).faults();
        let found: Vec<_> = found.iter().map(|fault| (fault.key, fault.next_size)).collect();
        assert_eq!(found, expected, "{pairs:?}");
    };
    check(&[], &[]);
    check(&[("normalization", "layer")], &[("normalization", None)]);
    let seeded = ("weights", "seeded");
    check(&[("preset", "uresnet"), seeded, ("height", "160"), ("width", "256")], &[("height", Some((192, 256)))]);
    let halved = [("preset", "uresnet"), seeded, ("height", "320"), ("width", "512"), ("downsample", "2")];
    check(&halved, &[("height", Some((384, 512)))]);
    check(&[("height", "321"), ("downsample", "2")], &[("downsample", None)]);
    check(&[("downsample", "0")], &[("downsample", None)]);
    check(&[("height", "1280"), ("width", "2048")], &[]);
    check(&[("height", "100000"), ("width", "100000")], &[("height", None)]);
    check(&[("height", "160"), ("preset", "polaris"), seeded, ("input", "file")], &[]);
    check(&[("preset", "a21")], &[("weights", None)]);
}

#[test]
fn the_largest_picture_is_named_and_taken() {
    let check = |pairs: &[(&str, &str)]| {
        let large = [("height", "100000"), ("width", "100000")];
        let problem = set(&[pairs, &large].concat()).faults().remove(0).problem;
        let side = problem.split_once(", and ").and_then(|(_, rest)| rest.split(' ').next()).unwrap_or_default();
        assert!(side.parse::<usize>().is_ok_and(|side| side > 1000), "{problem}");
        assert_eq!(set(&[pairs, &[("height", side), ("width", side)]].concat()).faults(), [], "{problem}");
    };
    check(&[]);
    check(&[("downsample", "2")]);
    check(&[("preset", "uresnet"), ("weights", "seeded")]);
    let most = u32::MAX.to_string();
    assert_eq!(set(&[("height", &most), ("width", &most)]).faults()[0].key, "height");
}

#[test]
fn the_configuration_is_one_for_the_command() {
    for name in PRESETS {
        let choice = set(&[("preset", name)]);
        assert_eq!(Config::from_json(&choice.config_json()), Ok(choice.config), "{name}");
    }
}

#[test]
fn commands() {
    let check = |pairs: &[(&str, &str)], expected: &str| assert_eq!(set(pairs).command("config.json"), expected);
    check(
        &[],
        "portolan forward --config small --weights sample --event 0 --size 320x512 \
         --out reference.safetensors --bundle --script check_port.py",
    );
    check(
        &[("preset", "a21"), ("weights", "file"), ("input", "file"), ("event", "3"), ("downsample", "4")],
        "portolan forward --config a21 --weights FILE --input FILE --event 3 --size 320x512 --downsample 4 \
         --out reference.safetensors --bundle --script check_port.py",
    );
    check(
        &[("preset", "uresnet"), ("weights", "seeded"), ("seed", "4"), ("stages", "all")],
        "portolan forward --config uresnet --seed 4 --event 0 --size 320x512 \
         --out reference.safetensors --bundle --script check_port.py --stages",
    );
}
